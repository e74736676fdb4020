"""Whether a memory has to do with what is asked, whatever its rank."""

# Without a word of the search a memory counts from this cosine on. Unrelated sentences reach 0.33 with MiniLM.
MIN_SIMILARITY = 0.35


def speaks_of(has_word: bool, similarity: float | None) -> bool:
    """Return whether a memory has a word of the query or a near meaning. similarity: None where it is not known."""
    return has_word or (similarity or 0.0) >= MIN_SIMILARITY
