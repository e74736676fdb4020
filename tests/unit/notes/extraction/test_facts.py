"""Facts of conversations, found by patterns."""

from datetime import UTC, datetime

from apps.notes.domain.facts import Category, Turn, extract_facts

AT = datetime(2026, 3, 4, 12, tzinfo=UTC)


def contents(*texts: str) -> list[str]:
    return [fact.content for fact in extract_facts([Turn("user", text, AT) for text in texts])]


def test_a_fact_has_its_place_and_its_reason():
    (fact,) = extract_facts([Turn("assistant", "I live in a cloud."), Turn("user", "Hi! I live in Oslo.", AT)])
    assert (fact.content, fact.category, fact.turn) == ("I live in Oslo.", Category.ABOUT, 1)
    assert (fact.quote, fact.pattern) == ("I live in Oslo.", "home")
    assert 0.5 < fact.confidence <= 1


def test_a_relative_date_is_resolved():
    assert contents("I fly to Rome next Friday.") == ["I fly to Rome next Friday (2026-03-13)."]


def test_she_is_the_sister_of_the_sentence_before():
    assert contents("My sister Ana is a nurse in Lyon. She has two kids.") == [
        "My sister Ana is a nurse in Lyon.",
        "My sister Ana has two kids.",
    ]
