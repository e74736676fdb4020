"""Numbers compared as the decimals that people write, in which 0.8 - 0.5 is not more than 0.3."""

# Finer than any setting, and coarser than the errors of binary arithmetic on shares.
DIGITS = 9


def difference(one: float, other: float) -> float:
    """Return one number minus another, rounded to DIGITS decimals: exactly 0.3 for 0.8 and 0.5."""
    return round(one - other, DIGITS)


def exceeds(value: float, limit: float) -> bool:
    """Return whether a number is more than a limit, as decimals."""
    return difference(value, limit) > 0


def reaches(value: float, limit: float) -> bool:
    """Return whether a number is at least a limit, as decimals."""
    return difference(value, limit) >= 0
