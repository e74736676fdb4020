"""Occurrences on two days are two occurrences, unless the newer text says that something changed."""

import pytest

from apps.rules.domain.statements.contrasts import are_occurrences_apart, days_in

FIRST = "Maya gave blood on 12 February 2024."


@pytest.mark.parametrize(
    ("text", "days"),
    [
        (FIRST, {"12february"}),
        ("On May 3rd we met.", {"may3rd"}),
        ("Réunion le 4 juin", {"4juin"}),
        ("Termin am 3. März", {"3.märz"}),
        ("2024年10月5日保養鍋爐", {"10月5日"}),
        ("deployed 2026-02-03", {"2026-02-03"}),
        ("The licence runs until April 2026.", set()),
        ("May I ask 12 people?", set()),
    ],
)
def test_days_are_found(text: str, days: set[str]) -> None:
    assert days_in(text) == days


@pytest.mark.parametrize("text", ["She gave blood on 29 May 2024 as well.", "Another donation: 29 May 2024"])
def test_another_day_is_another_occurrence(text: str) -> None:
    assert are_occurrences_apart(FIRST, text)


@pytest.mark.parametrize(
    "text",
    [
        "The donation was moved to 29 May 2024.",
        "Correction: it was 29 May 2024.",
        "捐血改到5月29日",
        "Maya is a donor.",
        "It was 12 February 2024 in the morning.",
    ],
)
def test_changes_and_the_same_day_are_not(text: str) -> None:
    assert not are_occurrences_apart(FIRST, text)
