"""Four processes write, delete, purge and search the same memories at once, each with an index of its own.

Every answer is right at its moment: what was saved before a search began is found if it is among the nearest, whoever
saved it (staleness 0), and what was deleted before is not. For longer than a moment:

    INDEX_AT_ONCE_SECONDS=60 .venv/bin/pytest tests/semantic/test_index_at_once.py -n 0 -s
"""

import os
import pickle
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from apps.semantic.index.cache import IndexCache
from apps.semantic.models import Memory
from apps.semantic.store.embedding_space import current_space, forget_space
from tests.integration.semantic.graph_support import use_small_graphs
from tests.system.index_crowd import USERS, Change, Notes, Purge, Saved, Search, Truth, join_in, vector_of
from tests.system.index_process import CONTEXT, start, this_place

pytestmark = pytest.mark.xdist_group("index killed")

PROCESSES = 4
SECONDS = float(os.environ.get("INDEX_AT_ONCE_SECONDS", "3"))


@pytest.fixture
def notes(transactional_db: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings) -> list[Notes]:
    """What four processes did at once."""
    use_small_graphs(monkeypatch, tmp_path, settings)
    forget_space()
    current_space()
    ready = CONTEXT.Barrier(PROCESSES)
    files = [tmp_path / f"{number}.notes" for number in range(PROCESSES)]
    processes = [
        start(join_in, this_place(), number, SECONDS, number == 0, ready, file) for number, file in enumerate(files)
    ]
    for process in processes:
        process.join(SECONDS + 60)
    assert [process.exitcode for process in processes] == [0] * PROCESSES
    return [pickle.loads(file.read_bytes()) for file in files]


def test_every_answer_is_right_at_its_moment(notes: list[Notes]) -> None:
    truth = Truth(notes)
    wrong = Counter(
        f"{search.way}: {problem}" for one in notes for search in one.searches if (problem := truth.wrong(search))
    )
    ways = [Counter(search.way for search in one.searches) for one in notes]
    figures = {
        name: sum(len(getattr(one, name)) for one in notes) for name in ("saved", "changes", "purges", "searches")
    }
    short = sum(truth.is_short(search) for one in notes for search in one.searches)
    print(figures, f"{short} short", *ways, f"{Memory.objects.active().count()} memories in the end")
    assert not wrong
    assert short == 0
    assert all(way["hnsw"] for way in ways), "each searched by its graph"
    for user in USERS:
        with IndexCache(1 << 30).refreshed([user], current_space()) as [shard]:
            there = set(Memory.objects.active().filter(user_id=user).values_list("pk", flat=True))
            assert set(shard.ids[shard.alive].tolist()) == there


# --- that a wrong answer would be noticed -------------------------------------------------------------


def scene(*changes: Change, purges: list[Purge] | None = None) -> Truth:
    """Twelve memories of ana's that came between 0 and 1, and what else happened."""
    saved = [Saved(str(number), number, "ana", "kept") for number in range(12)]
    came = Change(tuple(one.uuid for one in saved), True, 0.0, 1.0)
    return Truth([Notes(saved=saved, changes=[came, *changes], purges=purges or [])])


def answer(*left_out: int, began: float = 10.0, ended: float = 11.0) -> Search:
    """The best ten, but for some."""
    asked = vector_of(77)
    near = sorted(set(range(12)) - set(left_out), key=lambda number: -float(vector_of(number) @ asked))[:10]
    return Search("ana", None, 77, began, ended, tuple((str(n), float(vector_of(n) @ asked)) for n in near), "hnsw")


BEST = int(answer().found[0][0])


def gone(began: float, ended: float) -> Change:
    return Change((str(BEST),), False, began, ended)


def test_the_best_ten_are_right() -> None:
    assert scene().wrong(answer()) is None


def test_one_that_misses_the_best_is_wrong() -> None:
    assert "misses" in (scene().wrong(answer(BEST)) or "")


def test_one_that_was_there_before_search_began_must_be_found() -> None:
    assert scene().wrong(answer(BEST, began=0.5)) is None
    assert scene().wrong(answer(BEST, began=1.0)) is not None


@pytest.mark.parametrize(
    ("change", "with_it", "without"),
    [
        (gone(5, 6), False, True),  # before: must not be found
        (gone(9, 10.5), True, True),  # meanwhile: may be
        (gone(12, 13), True, False),  # afterwards: must be
    ],
)
def test_one_that_leaves_may_be_found_as_long_as_it_may_be_there(change: Change, with_it: bool, without: bool) -> None:
    assert (scene(change).wrong(answer()) is None) == with_it
    assert (scene(change).wrong(answer(BEST)) is None) == without


def test_one_that_came_back_must_be_found_and_one_that_was_purged_must_not() -> None:
    back = Change((str(BEST),), True, 7, 8)
    assert scene(gone(5, 6), back).wrong(answer(BEST)) is not None
    purge = Purge("ana", "kept", 5, 6)
    assert scene(purges=[purge]).wrong(answer()) == "not there (any more)"
    assert scene(purges=[purge]).wrong(Search("ana", None, 77, 10, 11, (), "hnsw")) is None


def test_fewer_than_there_are_and_another_order_are_wrong() -> None:
    right = answer()
    assert scene().wrong(replace(right, found=right.found[:9])) is not None
    assert scene().wrong(replace(right, found=right.found[::-1])) == "in another order"
    assert scene().wrong(replace(right, found=right.found[:9] * 2)) == "twice, or too many"
    assert scene().wrong(replace(right, user="ben")) is not None
