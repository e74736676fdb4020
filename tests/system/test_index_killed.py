"""An index is killed at every step: of taking rows, of making, reading and covering a graph, of writing a snapshot.

A real process takes the steps and kills itself with SIGKILL. The next one answers as a look at every row does, believes
no file that is not whole, and leaves none lying about.
"""

import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from apps.retrieval.domain import planner
from apps.semantic.index import graphs as index_graphs
from apps.semantic.index.cache import IndexCache, index_cache
from apps.semantic.index.snapshots import KEPT, SAVE_STEPS
from apps.semantic.services import memory_delete, memory_save_many
from apps.semantic.store.embedding_space import current_space, forget_space
from benchmarks.vectors.data import fill, synthetic_scope
from memoryhub.config.hub import Config
from memoryhub.web.command import ask_ready
from memoryhub.web.server import serve
from tests.integration.semantic.graph_support import (
    answers_are_exact,
    keep,
    random_draft,
    shard_of,
    snapshots_of_ana,
    use_small_graphs,
)
from tests.system.hub import free_port, wait_for
from tests.system.index_process import ACCESS, CONTEXT, PATIENCE, die_doing, start, this_place

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("index killed")]

# COVERED: more than a graph is left without, and a smaller share than a snapshot is written for.
ROWS, MORE, COVERED = 150, 40, 7


# --- what the processes do ----------------------------------------------------------------------------


def see_to_graph() -> None:
    """What a process does with the shard of a user: load it, and see to its graph."""
    keep(index_cache())


def change_all_the_time(ready: Any, number: int) -> None:
    """Save, delete, cover and write snapshots until somebody ends this."""
    index_graphs.SNAPSHOT_SHARE = 0.0
    keep(index_cache())
    ready.set()
    while True:
        saved = memory_save_many(access=ACCESS, drafts=[random_draft(number + n) for n in range(7)])
        memory_delete(access=ACCESS, uuid=saved[0].memory.uuid)  # type: ignore[union-attr]
        number += 7
        keep(index_cache())


def serve_hub(config: Config) -> None:
    """What a web process does, with a graph that knows more than its snapshot; too little more to write it anew."""
    keep(index_cache())
    memory_save_many(access=ACCESS, drafts=[random_draft(number) for number in range(COVERED)])
    keep(index_cache())
    serve(config)


# --- what is there before -----------------------------------------------------------------------------


def rows_alone() -> None:
    data = synthetic_scope("ana", ROWS, 1, current_space().dimension)
    fill(data, current_space())


def an_old_snapshot() -> None:
    """Two snapshots, and more rows than they know."""
    rows_alone()
    cache = IndexCache(1 << 30)
    keep(cache)
    snapshots_of_ana().save(shard_of(cache, lambda shard: shard.graph), 1)
    memory_save_many(access=ACCESS, drafts=[random_draft(number) for number in range(MORE)])


def a_bad_snapshot() -> None:
    """The newest one is damaged, the one before is not."""
    an_old_snapshot()
    newest = max(snapshots_of_ana().directory.glob("*.graph"))
    newest.write_bytes(newest.read_bytes()[:-1])


@dataclass(frozen=True)
class Case:
    """What is there, and the steps on the way of seeing to the graph."""

    name: str
    prepare: Callable[[], None]
    steps: tuple[tuple[str, int], ...]


SAVING = tuple((step, 1) for step in SAVE_STEPS)
CASES = [
    Case(
        "first",
        rows_alone,
        (("take rows", 1), ("add to graph", 1), ("take graph into use", 1), ("rename", 1), ("rename header", 1)),
    ),
    Case(
        "next",
        an_old_snapshot,
        (
            *((step, 1) for step in ("tidy first", "look at checksum", "read rows", "read graph")),
            *(("take graph into use", 1), ("cover", 1), ("cover", 2), ("cover", 3)),
            *SAVING,
        ),
    ),
    Case("bad", a_bad_snapshot, (("move file", 1), ("move file", 2), ("look at checksum", 2))),
]
PLACES = [
    pytest.param(case, step, count, id=f"{case.name}: {step} {count}") for case in CASES for step, count in case.steps
]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings) -> None:
    use_small_graphs(monkeypatch, tmp_path, settings)
    monkeypatch.setattr("apps.semantic.index.graphs.GraphKeeper.request", lambda *_: None)
    forget_space()


# --- what is right afterwards -------------------------------------------------------------------------


def files_are_whole() -> None:
    """No file without its other half, none half-written, and every snapshot can be read."""
    place = snapshots_of_ana().directory
    headers, graphs = ({path.stem for path in place.glob(f"*.{kind}")} for kind in ("json", "graph"))
    assert headers == graphs
    assert 1 <= len(headers) <= KEPT
    assert not list(place.glob("*.part"))
    for path in place.glob("*.json"):
        assert snapshots_of_ana()._load(path, newer_than=-1) is not None


def all_is_well() -> None:
    """As the next process finds it."""
    index_cache().clear()
    keep(index_cache())
    assert shard_of(index_cache(), lambda shard: len(shard) - len(shard.graph)) <= planner.COVER_AT
    answers_are_exact(ACCESS)
    files_are_whole()


@pytest.mark.parametrize(("case", "step", "count"), PLACES)
def test_killed_at_any_step_it_answers_as_before_and_leaves_nothing_behind(case: Case, step: str, count: int) -> None:
    case.prepare()
    assert die_doing(see_to_graph, this_place(), step, count), f"it never came to {step}"
    all_is_well()


def test_process_that_is_not_told_to_die_comes_to_its_end() -> None:
    rows_alone()
    assert not die_doing(see_to_graph, this_place(), "no such step")
    files_are_whole()


def test_killed_at_any_moment_of_ceaseless_changes_it_answers_as_before() -> None:
    """Moments that no step names: in the middle of writing a file, of a transaction, of putting rows into a graph."""
    rows_alone()
    moments = random.Random(5)
    for round_number in range(4):
        ready = CONTEXT.Event()
        process = start(change_all_the_time, this_place(), ready, 1_000 * round_number)
        assert ready.wait(PATIENCE)
        time.sleep(moments.uniform(0.02, 0.25))
        process.kill()
        process.join(PATIENCE)
        all_is_well()


def test_web_process_that_is_told_to_end_leaves_its_last_changes_on_disk() -> None:
    rows_alone()
    config = replace(settings.MEMORYHUB, host="127.0.0.1", port=free_port(), web_processes=1)
    process = start(serve_hub, this_place(), config)
    wait_for(lambda: ask_ready(config)[0] or not process.is_alive(), "a web server")
    process.terminate()
    process.join(PATIENCE)
    assert process.exitcode == -signal.SIGTERM
    loaded = snapshots_of_ana().load()
    assert loaded is not None
    assert loaded.header.count == ROWS + COVERED
