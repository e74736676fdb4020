"""A thousand distinct short facts that one person tells within a minute: none costs another its place (D6)."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from apps.core.domain.scope import Scope, system_access
from apps.core.per_process import PerProcess
from apps.llm.embedding import embedder
from apps.llm.embedding.e5.embedder import E5Embedder
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Memory
from apps.semantic.services import memory_save, memory_save_many
from apps.semantic.store.embedding_space import forget_space
from tests.hostile.test_distinct_facts import KINDS
from tests.threads import at_once

pytestmark = pytest.mark.django_db

SYSTEM = system_access("test")
ANA = Scope("ana")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
FACTS = 1_000

PEOPLE, TOWNS, PLANTS, SPORTS, MONTHS = map(
    str.split,
    (
        "Ada Bela Chen Dora Emil Fay Gus Hana Ivo Juna Kai Lou Max Nia Otto Pia",
        "Bergen Turin Osaka Cusco Leeds Cuenca Tallinn Faro Bern Linz",
        "fern cactus ivy orchid basil mint lavender rose",
        "rowing judo archery badminton hockey curling",
        "January February March April May June July August September October November December",
    ),
)


def own_facts() -> Iterator[str]:
    """Facts in the words of this test, beside those by which the engine itself is tested."""
    for n, (person, plant) in enumerate(product(PEOPLE, PLANTS)):
        yield f"{person} gave me a {plant} for my balcony in {MONTHS[n % 12]}."
    for person, town in product(PEOPLE, TOWNS):
        yield f"{person} once spent a weekend in {town}."
    for n, (town, sport) in enumerate(product(TOWNS, SPORTS)):
        yield f"The {sport} club in {town} has {n + 11} members."
    for n in range(60):
        yield f"Locker {n + 100} belongs to {PEOPLE[n % 16]}'s {SPORTS[n % 6]} team."
    for n in range(60):
        yield f"Invoice {n + 7_000} over {n * 13 % 90 + 10} euros was paid on {n % 28 + 1} {MONTHS[n % 12]}."
    for n, person in enumerate(PEOPLE):
        yield f"{person}'s seat at the concert is row {n % 7 + 1}, number {n + 3}."
        yield f"{person} takes {n + 2} sugars in {PEOPLE[-n]}'s tea."


def facts() -> list[str]:
    """A thousand of them, each once, those of one kind beside each other."""
    every = dict.fromkeys([*own_facts(), *(fact for kind in KINDS.values() for fact in kind)])
    return list(every)[:FACTS]


@pytest.fixture
def e5(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The embedder that people use."""
    monkeypatch.setattr(embedder, "_embedder", PerProcess(lambda: E5Embedder(threads=1)))
    forget_space()
    yield
    forget_space()


def within_a_minute(texts: Sequence[str]) -> list[MemoryDraft]:
    return [
        MemoryDraft(text, scope=ANA, occurred_at=NOON + timedelta(seconds=59 * n / len(texts)))
        for n, text in enumerate(texts)
    ]


def lost() -> list[tuple[str, str]]:
    """The facts that do not stand any more, each with the one that took its place."""
    gone = Memory.objects.exclude(status="active").select_related("superseded_by")
    return [(memory.content, memory.superseded_by.content if memory.superseded_by else "") for memory in gone]


def test_there_are_a_thousand_distinct_facts() -> None:
    assert len(facts()) == len(set(facts())) == FACTS


def test_a_thousand_facts_of_one_minute_all_stand(e5: None) -> None:
    drafts = within_a_minute(facts())
    for start in range(0, FACTS, 100):
        memory_save_many(access=SYSTEM, drafts=drafts[start : start + 100])
    assert lost() == []
    assert Memory.objects.active().count() == FACTS


def test_thousand_facts_said_at_same_moment_in_one_call_all_stand() -> None:
    memory_save_many(access=SYSTEM, drafts=[MemoryDraft(text, scope=ANA) for text in facts()])
    assert lost() == []
    assert Memory.objects.active().count() == FACTS


def test_facts_saved_one_by_one_all_stand() -> None:
    for draft in within_a_minute(facts()[::4]):
        memory_save(access=SYSTEM, draft=draft)
    assert lost() == []
    assert Memory.objects.active().count() == FACTS / 4


@pytest.mark.django_db(transaction=True)
def test_facts_saved_by_four_writers_at_once_all_stand() -> None:
    drafts = within_a_minute(facts()[1::4])
    at_once(*(lambda n=n: memory_save_many(access=SYSTEM, drafts=drafts[n::4]) for n in range(4)))
    assert lost() == []
    assert Memory.objects.active().count() == len(drafts)
