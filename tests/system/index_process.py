"""Processes with an index of their own: some work for a while, some are killed at a step.

Forked from a server process that has imported everything, so that one costs little. What makes their graphs small, and
where they die, they are told by arguments; nothing outside the tests can tell an index to do so.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402

from apps.core.domain.scope import system_access  # noqa: E402
from apps.retrieval.domain import planner  # noqa: E402
from apps.retrieval.domain.rows import RowStore  # noqa: E402
from apps.retrieval.domain.vectors.graph import VectorGraph  # noqa: E402
from apps.semantic.index import graphs, snapshots  # noqa: E402
from apps.semantic.index.snapshots import Snapshots  # noqa: E402
from tests.system.ended import noticed  # noqa: E402

PATIENCE = 60.0
ACCESS = system_access("test")
CONTEXT = multiprocessing.get_context("forkserver")
# Calls before which a process can be killed, besides the steps of writing a snapshot.
PLACES: dict[str, tuple[Any, str]] = {
    "take rows": (RowStore, "apply"),
    "add to graph": (VectorGraph, "add"),
    "take graph into use": (RowStore, "attach"),
    "tidy first": (Snapshots, "tidy"),
    "look at checksum": (snapshots, "fingerprint"),
    "read rows": (snapshots, "read_graph_rows"),
    "read graph": (VectorGraph, "load"),
    "cover": (RowStore, "cover"),
    "move file": (os, "rename"),
}

Step = Callable[[str], None]


@dataclass(frozen=True)
class Place:
    """What processes have in common: the address of the database, and the directory of the index."""

    address: dict[str, Any]
    index: Path


def this_place() -> Place:
    """That of the test that runs."""
    return Place(
        {name: connection.settings_dict[name] for name in ("NAME", "HOST", "PORT")}, settings.SEMANTIC_INDEX_DIR
    )


def start(work: Callable[..., None], place: Place, *arguments: Any) -> BaseProcess:
    """Do something in another process, at that place. Call it without an open transaction."""
    modules = {one.__module__ for one in (work, *arguments) if callable(one)}
    CONTEXT.set_forkserver_preload([__name__, *modules])
    process = CONTEXT.Process(target=_run, args=(work, place, arguments), daemon=True)
    process.start()
    return process


def _run(work: Callable[..., None], place: Place, arguments: tuple[Any, ...]) -> None:
    connection.settings_dict.update(place.address)
    settings.SEMANTIC_INDEX_DIR = place.index
    planner.GRAPH_ROWS, planner.COVER_AT = 100, 5
    graphs.COVER_CHUNK, graphs.ASK_AGAIN_SECONDS = 16, 0.2
    work(*arguments)


def die_doing(work: Callable[[], None], place: Place, step: str, time: int = 1) -> bool:
    """Have another process do it; True if it was killed at the step, False if it came to its end without one."""
    with noticed():
        process = start(_do_or_die, place, work, step, time)
        process.join(PATIENCE)
    assert process.exitcode in {0, -signal.SIGKILL}, f"exit code {process.exitcode}"
    return process.exitcode != 0


def _do_or_die(work: Callable[[], None], step: str, time: int) -> None:
    times = 0

    def die(name: str) -> None:
        nonlocal times
        times += name == step
        if name == step and times == time:
            os.kill(os.getpid(), signal.SIGKILL)

    tell_steps(die)
    work()


def tell_steps(step: Step) -> None:
    """Tell of every step from now on."""
    save = Snapshots.save
    Snapshots.save = lambda self, graph, version: save(self, graph, version, step)  # type: ignore[method-assign]
    for name, (owner, function) in PLACES.items():
        original = owner.__dict__[function]
        setattr(owner, function, _telling(original, lambda name=name: step(name)))


def _telling(original: Any, tell: Callable[[], None]) -> Any:
    """The same function, class method or static function, which tells that it is called."""
    call = original.__func__ if isinstance(original, classmethod) else original

    def telling(*arguments: Any, **options: Any) -> Any:
        tell()
        return call(*arguments, **options)

    return classmethod(telling) if isinstance(original, classmethod) else telling
