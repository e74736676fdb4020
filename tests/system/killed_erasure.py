"""A process that forgets a person and kills itself after a number of steps."""

import multiprocessing
import os
import signal
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402

from apps.people.erasure.run import erasure_run  # noqa: E402
from tests.system.ended import noticed  # noqa: E402

PATIENCE = 60.0


def die_forgetting(erasure_id: int, steps: int) -> bool:
    """Have another process continue an erasure; True if it was killed at its n-th step, False if it came to its end.

    Call it without an open transaction.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    places = tuple(str(place) for place in (settings.TIMELINE_DIR, settings.SEMANTIC_INDEX_DIR, settings.DOWNLOADS_DIR))
    arguments = (erasure_id, steps, str(connection.settings_dict["NAME"]), places)
    with noticed():
        process = context.Process(target=_run, args=arguments, daemon=True)
        process.start()
        process.join(PATIENCE)
    assert process.exitcode in {0, -signal.SIGKILL}, f"exit code {process.exitcode}"
    return process.exitcode != 0


def _run(erasure_id: int, steps: int, database: str, places: tuple[str, ...]) -> None:
    connection.settings_dict["NAME"] = database
    settings.TIMELINE_DIR, settings.SEMANTIC_INDEX_DIR, settings.DOWNLOADS_DIR = map(Path, places)
    taken = 0

    def die(_: Any) -> None:
        nonlocal taken
        taken += 1
        if taken == steps:
            os.kill(os.getpid(), signal.SIGKILL)

    erasure_run(erasure_id=erasure_id, step=die)
