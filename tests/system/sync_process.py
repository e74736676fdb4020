"""Processes that sync: some kill themselves at a step, some want the same source at once, one is measured."""

import multiprocessing
import os
import resource
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402

from apps.core.domain.errors import ConflictError  # noqa: E402
from apps.sync import services  # noqa: E402
from apps.sync.domain.state import Resolution  # noqa: E402
from apps.sync.models import SyncKind  # noqa: E402
from apps.sync.runs.lock import is_locked  # noqa: E402
from tests.integration.sync.syncs import OPERATOR  # noqa: E402

PATIENCE = 120.0


def begin(work: Any, *arguments: Any) -> multiprocessing.process.BaseProcess:
    """Start a process that does something with the database and the folders of this one."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    sync = settings.MEMORYHUB.sync
    place = (str(connection.settings_dict["NAME"]), str(settings.SYNC_DIR), [str(root) for root in sync.roots])
    process = context.Process(target=_run, args=(place, work, arguments), daemon=True)
    process.start()
    return process


def _run(place: tuple[str, str, list[str]], work: Any, arguments: tuple[Any, ...]) -> None:
    connection.settings_dict["NAME"], settings.SYNC_DIR = place[0], Path(place[1])
    roots = tuple(Path(root) for root in place[2])
    settings.MEMORYHUB = replace(settings.MEMORYHUB, sync=replace(settings.MEMORYHUB.sync, roots=roots))
    work(*arguments)


def kill(source: int, work: Any, *arguments: Any) -> None:
    """Run work until it kills its process, and wait until the database has noticed."""
    process = begin(work, *arguments)
    process.join(PATIENCE)
    assert process.exitcode == -signal.SIGKILL, f"exit code {process.exitcode}"
    wait_until(lambda: not is_locked(source))


def wait_until(is_so: Any) -> None:
    """Wait for another process. Raises TimeoutError."""
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.01)


def die_at(step: str) -> Any:
    """Return a function of steps that ends the process at one of them."""

    def die(name: str) -> None:
        if name == step:
            os.kill(os.getpid(), signal.SIGKILL)

    return die


def sync_and_die(source: str, kind: str, step: str) -> None:
    services.sync_run(access=OPERATOR, uuid=UUID(source), kind=SyncKind(kind), step=die_at(step))


def roll_back_and_die(source: str, checkpoint: str, step: str) -> None:
    services.sync_rollback(access=OPERATOR, uuid=UUID(source), checkpoint=UUID(checkpoint), step=die_at(step))


def resolve_and_die(conflict: str, resolution: str, step: str) -> None:
    services.conflict_resolve(
        access=OPERATOR, uuid=UUID(conflict), resolution=Resolution(resolution), step=die_at(step)
    )


def sync_in_a_crowd(source: str, folder: str, number: int, size: int) -> None:
    """Sync, and hold the source until all others have been refused. Write what became of it into a file."""
    told = Path(folder)

    def wait(step: str) -> None:
        if step == "compared":
            wait_until(lambda: len(list(told.glob("*"))) == size - 1)

    try:
        answer = str(services.sync_run(access=OPERATOR, uuid=UUID(source), kind=SyncKind.INCREMENTAL, step=wait).state)
    except ConflictError as error:
        answer = error.code
    (told / str(number)).write_text(answer)


def sync_and_measure(source: str, kind: str, answer: str) -> None:
    """Sync, and write the state, the seconds of processor time, and by how many MB the process grew."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    run = services.sync_run(access=OPERATOR, uuid=UUID(source), kind=SyncKind(kind))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    Path(answer).write_text(f"{run.state} {time.process_time() - began:.2f} {grown}")
