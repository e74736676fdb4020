"""Code that runs on the data of a hub, in a fork of a process that has imported everything, which saves seconds."""

import contextlib
import importlib
import io
import multiprocessing
import os
import sys
import traceback
from collections.abc import Mapping
from multiprocessing.connection import Connection

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402

PATIENCE = 180.0


def run_code(code: str, environment: Mapping[str, str]) -> str:
    """Run code as `manage.py shell` does in an environment, beside a database that runs; return what it prints."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    reading, writing = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(code, dict(environment), writing), daemon=True)
    process.start()
    writing.close()
    with reading:
        assert reading.poll(PATIENCE), "the code does not end"
        said, fault = reading.recv()
    process.join(PATIENCE)
    assert not fault, fault
    return str(said)


def _run(code: str, environment: dict[str, str], answer: Connection) -> None:
    said, fault = io.StringIO(), ""
    try:
        _settle(environment)
        with contextlib.redirect_stdout(said):
            exec(code, {})
    except BaseException:  # noqa: BLE001  (whatever it is, the test says it)
        fault = traceback.format_exc()
    answer.send((said.getvalue(), fault))


def _settle(environment: dict[str, str]) -> None:
    """Make an environment that of this process, and the settings those that it leads to."""
    os.environ.clear()
    os.environ.update(environment)
    read = importlib.reload(sys.modules["memoryhub.settings"])
    for name in dir(read):
        if name.isupper():
            setattr(settings, name, getattr(read, name))
    connection.settings_dict.update(settings.DATABASES["default"])
