"""The database is killed under an index: while it loads, while its graph grows, in the middle of saves.

A server of its own, all of whose processes get SIGKILL. The process with the index lives on, and is right again as soon
as the server is back.
"""

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

import psutil
import pytest
from django.core.management import call_command
from django.db import Error, close_old_connections

from apps.core.domain.errors import UnavailableError
from apps.semantic.index import changes
from apps.semantic.index.cache import IndexCache, index_cache
from apps.semantic.models import Memory
from apps.semantic.search.costs import write_search_costs
from apps.semantic.services import memory_save_many
from apps.semantic.store.embedding_space import current_space
from benchmarks.vectors.data import fill, synthetic_scope
from memoryhub.postgres.server import EmbeddedDatabase, database_settings
from tests.integration.semantic.graph_support import (
    FREE_GRAPHS,
    answers_are_exact,
    in_graph,
    keep,
    random_draft,
    shard_of,
)
from tests.system.conftest import make_place  # noqa: F401  (a fixture)
from tests.system.hub import alive, wait_for
from tests.system.index_process import ACCESS, PATIENCE, Place, start, tell_steps

pytestmark = pytest.mark.xdist_group("index killed")

# ROWS: so many that they do not fit into the buffers between the server and the process.
ROWS, BATCH, KILLS = 800, 5, 4


class Server:
    """The database server of a place."""

    def __init__(self, place: Path) -> None:
        self._database = EmbeddedDatabase(place, durable=False)

    def kill(self) -> None:
        """End all its processes at once, and wait until they are gone."""
        server = psutil.Process(self._database.pid)
        processes = [server, *server.children(recursive=True)]
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        wait_for(lambda: not any(map(alive, processes)), "the end of the server")

    def start(self) -> None:
        """Start it again; then this process goes on as a web process does with its next request."""
        self._database.start()
        close_old_connections()


@pytest.fixture(scope="module")
def place(make_place: Callable[[], Path]) -> Iterator[Path]:  # noqa: F811
    place = make_place()
    database = EmbeddedDatabase(place, durable=False)
    database.start()
    yield place
    database.stop()


def succeeds(work: Callable[[Server], None], place: Path) -> None:
    """Do it in another process on that server."""
    process = start(_on_server, Place(database_settings(place), place / "semantic-index"), work, place)
    process.join(PATIENCE)
    assert process.exitcode == 0, "see what it printed"


def _on_server(work: Callable[[Server], None], place: Path) -> None:
    call_command("migrate", verbosity=0)
    write_search_costs(FREE_GRAPHS)
    if not Memory.objects.exists():
        fill(synthetic_scope("ana", ROWS, 1, current_space().dimension), current_space())
    work(Server(place))


def kill_at(server: Server, step: str, time: int) -> list[str]:
    """Kill the server, once, at a step of this process. Gives the steps taken from now on."""
    taken: list[str] = []

    def look(name: str) -> None:
        taken.append(name)
        if name == step and taken.count(step) == time:
            server.kill()

    tell_steps(look)
    return taken


def all_is_well() -> None:
    """In this process, and in one that starts now."""
    keep(index_cache())
    answers_are_exact(ACCESS)
    known = set(Memory.objects.active().values_list("pk", flat=True))
    for cache in (index_cache(), IndexCache(1 << 30)):
        assert shard_of(cache, lambda shard: set(shard.ids[shard.alive].tolist())) == known


# --- what the processes do ----------------------------------------------------------------------------


def while_it_loads(server: Server) -> None:
    changes._FETCH_SIZE = 20
    taken = kill_at(server, "take rows", 3)
    with pytest.raises(Error):
        shard_of(index_cache(), len)
    assert taken.count("take rows") < ROWS / 20, "it had not read everything yet"
    entry = index_cache().peek("ana", current_space())
    assert entry is not None
    assert (len(entry.rows), entry.rows.version) == (0, -1), "a part is worse than nothing"
    server.start()
    all_is_well()


def while_its_graph_grows(server: Server) -> None:
    keep(index_cache())
    before = in_graph(index_cache()) or 0
    memory_save_many(access=ACCESS, drafts=[random_draft(n) for n in range(40)])
    taken = kill_at(server, "cover", 2)
    keep(index_cache())
    assert taken.count("cover") > 2, "it goes on without a database"
    entry = index_cache().peek("ana", current_space())
    assert entry is not None
    assert entry.rows.graph is not None
    assert len(entry.rows.graph) == before + 40
    with pytest.raises(Error):
        shard_of(index_cache(), len)
    server.start()
    all_is_well()


def in_the_middle_of_saves(server: Server) -> None:
    moments, numbers = random.Random(3), count(1_000)
    answered: set[int] = set()
    for _ in range(KILLS):
        keep(index_cache())
        killer = threading.Timer(moments.uniform(0.02, 0.2), server.kill)
        killer.start()
        with pytest.raises((Error, UnavailableError)):
            save_for_ever(numbers, answered)
        killer.join()
        server.start()
        all_is_well()
    assert answered <= set(Memory.objects.active().values_list("pk", flat=True))


def save_for_ever(numbers: Iterator[int], answered: set[int]) -> None:
    """Whether those were saved that it ends with nobody knows."""
    while True:
        drafts = [random_draft(next(numbers)) for _ in range(BATCH)]
        saved = memory_save_many(access=ACCESS, drafts=drafts)
        answered |= {outcome.memory.pk for outcome in saved}  # type: ignore[union-attr]


@pytest.mark.parametrize("work", [while_it_loads, while_its_graph_grows, in_the_middle_of_saves])
def test_database_that_is_killed_leaves_index_that_is_right_again(work: Callable[[Server], None], place: Path) -> None:
    succeeds(work, place)
