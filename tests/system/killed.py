"""A process that does maintenance and kills itself at a step: the way a machine loses power, but for the machine.

Forked from a server process that has imported everything, so that one costs little. Its arguments say where to die;
nothing outside the tests can tell a maintenance to do so.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402

from apps.core.domain.scope import Scope  # noqa: E402
from apps.episodic.maintenance import archive, remove  # noqa: E402
from apps.episodic.maintenance.doctor import timeline_doctor  # noqa: E402
from apps.episodic.maintenance.run import timeline_compact, timeline_maintain, timeline_seal  # noqa: E402
from apps.episodic.retention.prune import timeline_prune  # noqa: E402
from apps.episodic.retention.purge import event_delete, events_purge  # noqa: E402
from tests.integration.episodic.upkeep import ACCESS, archived, clock_at, hot  # noqa: E402
from tests.system.ended import noticed  # noqa: E402

PATIENCE = 60.0
SEGMENT_EVENTS = 20
BATCH = 4

Step = Callable[[str], None]


def delete_first(days: float, step: Step) -> None:
    """Delete "event 0", wherever it is, if it is still there."""
    for event in [*hot(), *archived()]:
        if event.content == "event 0":
            event_delete(access=ACCESS, uuid=event.uuid, clock=clock_at(days), step=step, wait_seconds=10)


WORKS: dict[str, Callable[[float, Step], Any]] = {
    "seal": lambda days, step: timeline_seal(clock=clock_at(days), step=step, wait_seconds=10),
    "maintain": lambda days, step: timeline_maintain(clock=clock_at(days), step=step, wait_seconds=10),
    "compact": lambda days, step: timeline_compact(clock=clock_at(days), step=step, wait_seconds=10),
    "prune": lambda days, step: timeline_prune(clock=clock_at(days), step=step, wait_seconds=10),
    "delete": delete_first,
    "purge": lambda days, step: events_purge(
        access=ACCESS, scope=Scope("user-0"), clock=clock_at(days), step=step, wait_seconds=10
    ),
    "doctor": lambda days, step: timeline_doctor(repair=True, clock=clock_at(days), step=step, wait_seconds=10),
}


@dataclass(frozen=True)
class Order:
    """What to do when, and where to die: at the n-th time of a step."""

    work: str
    days: float
    step: str
    time: int = 1


def use_small_parts() -> None:
    """Small segments and small batches, so that few events take many steps."""
    settings.MEMORYHUB = replace(
        settings.MEMORYHUB, timeline=replace(settings.MEMORYHUB.timeline, segment_events=SEGMENT_EVENTS)
    )
    archive.ROWS_AT_ONCE = remove.ROWS_AT_ONCE = BATCH


def die_doing(order: Order, timeline_dir: Path) -> bool:
    """Have another process do it; True if it was killed at the step, False if it came to its end without one.

    Call it without an open transaction.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    environment = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    places = (str(timeline_dir), settings.TIMELINE_URL, str(settings.FILES_CACHE_DIR))
    arguments = (order, str(connection.settings_dict["NAME"]), places, environment)
    with noticed():
        process = context.Process(target=_run, args=arguments, daemon=True)
        process.start()
        process.join(PATIENCE)
    assert process.exitcode in {0, -signal.SIGKILL}, f"exit code {process.exitcode}"
    return process.exitcode != 0


def _run(order: Order, database: str, places: tuple[str, str, str], environment: dict[str, str]) -> None:
    connection.settings_dict["NAME"] = database
    settings.TIMELINE_DIR, settings.TIMELINE_URL, settings.FILES_CACHE_DIR = Path(places[0]), places[1], Path(places[2])
    os.environ.update(environment)
    use_small_parts()
    times = 0

    def die(step: str) -> None:
        nonlocal times
        times += step == order.step
        if step == order.step and times == order.time:
            os.kill(os.getpid(), signal.SIGKILL)

    WORKS[order.work](order.days, die)
