"""Memories that contradict each other, and a rule under which saving does not notice it."""

from collections.abc import Iterator
from contextlib import contextmanager

from apps.rules.services import rule_delete, rule_register

DEAF = {"semantic_threshold": 1.0, "keyword_threshold": 1.0, "contradiction_threshold": 1.0, "restate_threshold": 1}
PEOPLE = ("Ana", "Ben", "Cleo", "Dora", "Emil", "Fred", "Gina", "Hugo", "Ida", "Jonas")
TOWNS = ("Lisbon", "Vienna", "Prague", "Dublin", "Oslo", "Athens", "Madrid", "Warsaw", "Zagreb", "Helsinki")


def opposites(count: int) -> list[str]:
    """`count` contents, then as many that contradict them, each about somebody else."""
    named = list(zip(PEOPLE, TOWNS, strict=True))[:count]
    first = [f"{who} lives in {town}." for who, town in named]
    return first + [f"{who} does not live in {town}." for who, town in named]


@contextmanager
def unnoticed() -> Iterator[None]:
    """What is saved in here is held against nothing."""
    rule_register(document={"name": "lax", "priority": 9, "detection": DEAF}, actor="test")
    yield
    rule_delete(name="lax", actor="test")
