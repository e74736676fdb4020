"""Whom to believe: the order of sources (spec 000 "Source-based arbitration")."""

SOURCE_ORDER = ("user", "conversation", "skill", "system", "inferred")


def source_rank(source: str) -> int:
    """0 for the source to believe first, 4 for the last. Case does not matter.

    A word that is none of the five ranks last, beside `inferred`: nothing is known of it.
    """
    known = source.strip().casefold()
    return SOURCE_ORDER.index(known) if known in SOURCE_ORDER else len(SOURCE_ORDER) - 1


def source_score(source: str) -> float:
    """What a source counts in a multi-factor score: 1.0 for `user`, in steps of 0.2, 0.2 for `inferred`."""
    return 1.0 - source_rank(source) / len(SOURCE_ORDER)


def higher_source(first: str, second: str) -> str:
    """The source to believe first; of two of the same rank the alphabetically first, whatever their order."""
    return min(first, second, key=lambda source: (source_rank(source), source))
