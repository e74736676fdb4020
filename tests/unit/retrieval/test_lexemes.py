"""The keyword document of a row."""

from datetime import UTC, datetime, timedelta, timezone

from apps.retrieval.domain.lexemes import document_lexemes, unpack
from apps.retrieval.domain.text.terms import date_words, term_hash

NEW_YORK = timezone(timedelta(hours=-5))


def has(blob: bytes, words: list[str]) -> list[bool]:
    found = set(unpack([blob])[0]["term"].tolist())
    return [term_hash(word) in found for word in words]


def test_words_of_a_date_are_those_of_the_writers_day() -> None:
    evening = datetime(2026, 3, 1, 23, 30, tzinfo=NEW_YORK)
    sunday, monday = date_words(evening), date_words(evening.astimezone(UTC))

    assert sunday[-1], monday[-1] == ("2026-03-01", "2026-03-02")
    assert all(has(document_lexemes("dinner", occurred_at=evening), sunday))
    assert not any(has(document_lexemes("dinner", occurred_at=evening), [monday[-1], monday[-2]]))
    assert all(has(document_lexemes("dinner", occurred_at=evening.astimezone(UTC)), monday))
