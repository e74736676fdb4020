"""A start that gets little of the processors is waited for; what hangs in it is ended, and the reason is said."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.conf import settings

from memoryhub.postgres import postmaster, server
from memoryhub.postgres.server import EmbeddedDatabase, EmbeddedDatabaseError
from memoryhub.process import supervisor
from memoryhub.process.children import Child
from memoryhub.process.startup import StartError
from memoryhub.process.supervisor import Part, Supervisor
from memoryhub.web.server import WebProcess, WebServer
from tests.system.hub import PROJECT, become, free_port, wait_for

PATIENCE = 1.5
APPLICATION = "tests.system.slow_application:application"


@contextlib.contextmanager
def starved(pid: int, share: float = 0.08) -> Iterator[None]:
    """Give a process only a share of its time, as a busy machine does."""
    process, is_over = psutil.Process(pid), threading.Event()

    def take_turns() -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            while not is_over.wait(0.25 * share):
                process.suspend()
                is_over.wait(0.25 * (1 - share))
                process.resume()

    thread = threading.Thread(target=take_turns)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


# --- web processes ------------------------------------------------------------------------------------


@pytest.fixture
def web() -> Iterator[WebServer]:
    """The parent of web processes, with little patience."""
    config = replace(settings.MEMORYHUB, host="127.0.0.1", port=free_port(), web_patience_seconds=PATIENCE)
    parent = WebServer(config, APPLICATION)
    yield parent
    for process in parent.processes:
        process.process.kill()
        process.process.join()
        process.close()
    parent.listener.close()


def start(web: WebServer) -> WebProcess:
    web.processes = [web.start_process()]
    return web.processes[0]


def watch(web: WebServer) -> WebProcess:
    """Look at the process as the parent does, and return the one that serves now."""
    web.processes = [web.watch(web.processes[0])]
    time.sleep(0.05)
    return web.processes[0]


def test_slow_web_process_is_waited_for(
    web: WebServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IMPORT_OF_TEST", "slow")
    process, longest = start(web), 0.0
    with starved(process.process.pid or 0):
        while not process.has_served:
            longest = max(longest, process.silent_seconds())
            assert watch(web) is process, caplog.text
    assert longest > 2 * PATIENCE, "it was not starved enough to show anything"
    assert caplog.text == ""


def test_web_process_that_hangs_is_replaced(web: WebServer, caplog: pytest.LogCaptureFixture) -> None:
    process = start(web)
    psutil.Process(process.process.pid).suspend()
    began = time.monotonic()
    wait_for(lambda: watch(web) is not process, "another process", patience=60)
    assert time.monotonic() - began > PATIENCE
    assert f"{process.process.pid} is killed" in caplog.text
    assert "it did nothing" in caplog.text
    wait_for(lambda: watch(web).has_served, "the other process to serve", patience=60)


def test_busy_silence_counts_processor_time(
    web: WebServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IMPORT_OF_TEST", "never")
    process = start(web)
    wait_for(lambda: watch(web) is not process, "another process", patience=120)
    assert "in which it was busy for" in caplog.text


def test_process_killed_as_it_starts_is_replaced(web: WebServer, caplog: pytest.LogCaptureFixture) -> None:
    process = start(web)
    os.kill(process.process.pid or 0, signal.SIGKILL)
    wait_for(lambda: watch(web) is not process, "another process", patience=60)
    assert not web.stopping.is_set()
    assert "was ended by SIGKILL before it could serve; another one is started in" in caplog.text
    wait_for(lambda: watch(web).has_served, "the other process to serve", patience=60)


def test_process_that_fails_to_start_ends_all(web: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPORT_OF_TEST", "fails")
    process = start(web)
    wait_for(lambda: watch(web) is process and web.stopping.is_set(), "the end", patience=60)
    assert web.exit_code > 0


# --- the supervisor -----------------------------------------------------------------------------------

ANSWERS_LATE = """
import http.server, sys, time
while time.process_time() < 4.0:
    pass
class Ready(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Ready).serve_forever()
"""
HANGS = "import time; time.sleep(600)"
FAILS = "raise SystemExit(3)"


@pytest.fixture
def supervised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that has a supervisor with little patience wait for a program instead of the web server."""
    monkeypatch.setattr(supervisor, "IDLE_WEB_SECONDS", PATIENCE)
    config = replace(settings.MEMORYHUB, data_dir=tmp_path, host="127.0.0.1", port=free_port(), database_url=None)
    children: list[Child] = []

    def wait(code: str) -> Supervisor:
        hub = Supervisor(config)
        hub.keeper = None
        hub.metrics_dir.mkdir(parents=True, exist_ok=True)  # for what is imported first
        program = (sys.executable, "-c", code, str(config.port))
        log = hub.log_path("web")
        child = Child("web", become, *program, environment=hub.environment, log=log, say=lambda *_: None)
        children.append(child)
        hub.parts = [Part(child, 1.0)]
        child.start()
        hub.wait_until_ready()
        return hub

    yield wait
    for child in children:
        child.kill()


def test_start_that_works_may_take_any_time(supervised: Any) -> None:
    began = time.monotonic()
    hub = supervised(ANSWERS_LATE)
    assert hub.is_ready
    assert time.monotonic() - began > 2 * PATIENCE


def test_start_that_does_nothing_is_ended(supervised: Any) -> None:
    with pytest.raises(StartError, match=r"does not answer, and has done nothing for \d+ s; see .*web\.log"):
        supervised(HANGS)


def test_start_that_fails_is_tried_three_times(supervised: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(StartError, match=r"web does not start; see .*web\.log"):
        supervised(FAILS)
    assert capsys.readouterr().out.count("web ended with exit code 3; restarting it in") == 2


# --- the database -------------------------------------------------------------------------------------


def test_database_that_hangs_as_it_starts_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = EmbeddedDatabase(tmp_path / "hub", durable=False)
    database.start()
    database.stop()
    launch = database._launch

    def launch_and_stop(account: Any) -> None:
        launch(account)
        pid = wait_for(lambda: database.pid, "the server")
        psutil.Process(pid).suspend()

    monkeypatch.setattr(database, "_launch", launch_and_stop)
    monkeypatch.setattr(server, "IDLE_SECONDS", PATIENCE)
    try:
        with pytest.raises(EmbeddedDatabaseError, match=r"is not ready, and has done nothing for \d+ s"):
            database.start()
    finally:
        psutil.Process(database.pid).resume()
        database.stop()


def test_launched_server_is_seen_before_its_file(tmp_path: Path) -> None:
    pgdata = tmp_path / "hub" / "postgres"
    code = f'read line; : postgres -D "{pgdata}"'
    with subprocess.Popen(["sh", "-c", code], stdin=subprocess.PIPE) as shell:
        found = [process.pid for process in postmaster.find_launched(pgdata)]
        others = postmaster.find_launched(tmp_path / "hub")
        shell.communicate(b"\n")
    assert found == [shell.pid]
    assert others == []


# --- the worker ---------------------------------------------------------------------------------------

NICE_AT = """
import os, sys
from django.apps import apps
os.nice = lambda steps: sys.exit(f"nice {steps}, imported: {apps.ready}")
from memoryhub.process.commandline import execute
execute(["manage.py", "qcluster"])
"""


def test_worker_yields_only_once_it_has_imported(tmp_path: Path) -> None:
    environment = {**os.environ, "MEMORYHUB_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "memoryhub.settings"}
    command = [sys.executable, "-c", NICE_AT]
    ended = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    assert "nice 10, imported: True" in ended.stderr
