"""The order of sources by trust (spec 000 "Source-based arbitration")."""

SOURCE_ORDER = ("user", "conversation", "skill", "system", "inferred")


def source_rank(source: str) -> int:
    """Return the rank of a source: 0 for the most trusted, 4 for the least. Case does not matter.

    An unknown source ranks last, beside `inferred`.
    """
    known = source.strip().casefold()
    return SOURCE_ORDER.index(known) if known in SOURCE_ORDER else len(SOURCE_ORDER) - 1


def source_score(source: str) -> float:
    """Return the factor of a source in the multi-factor score: from 1.0 for `user` in steps of 0.2 to 0.2."""
    return 1.0 - source_rank(source) / len(SOURCE_ORDER)


def higher_source(first: str, second: str) -> str:
    """Return the more trusted source; of two of the same rank the alphabetically first, whatever their order."""
    return min(first, second, key=lambda source: (source_rank(source), source))
