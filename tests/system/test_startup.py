import os
import socket
import subprocess
import sys
import tempfile
import time

import psutil
import pytest

from memoryhub.process import children
from memoryhub.process.startup import StartError, hold_data_directory, require_free_port
from tests.system.hub import become


@pytest.fixture
def taken():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_free_port_is_accepted_and_left_free(taken):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    require_free_port("127.0.0.1", port)
    require_free_port("127.0.0.1", port)


def test_taken_port_is_named_with_variable_that_changes_it(taken):
    with pytest.raises(StartError, match=f"Port {taken} .* taken .*MEMORYHUB_PORT={taken + 1}"):
        require_free_port("127.0.0.1", taken)


def test_a_port_taken_on_all_addresses_is_taken(taken):
    with socket.create_server(("0.0.0.0", 0)) as server, pytest.raises(StartError, match="taken"):
        require_free_port("127.0.0.1", server.getsockname()[1])


@pytest.mark.parametrize("host", ["203.0.113.7", "no.such.host.invalid"])
def test_address_that_is_not_ours_names_variable(host):
    with pytest.raises(StartError, match=f"MEMORYHUB_HOST={host}"):
        require_free_port(host, 8123)


def test_held_data_directory_is_refused_with_process_that_holds_it(tmp_path):
    with hold_data_directory(tmp_path), pytest.raises(StartError, match=f"process {os.getpid()}"):  # noqa: SIM117
        with hold_data_directory(tmp_path):
            pass


def test_data_directory_can_be_held_again_after_it_was_released(tmp_path):
    for _ in range(2):
        with hold_data_directory(tmp_path):
            assert (tmp_path / "up.lock").read_text() == str(os.getpid())


def test_data_directory_that_is_file_names_variable(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StartError, match="MEMORYHUB_DATA_DIR"), hold_data_directory(tmp_path / "file"):
        pass


def sleeper(mark: str) -> subprocess.Popen:
    environment = os.environ | {children.MARK: mark}
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], env=environment)


def test_leftovers_of_this_data_directory_are_ended_and_nothing_else(tmp_path):
    ours, other = sleeper(str(tmp_path)), sleeper(str(tmp_path / "other"))
    try:
        while not children.end_leftovers(tmp_path):
            time.sleep(0.05)  # until the new process has its environment
        assert not psutil.pid_exists(ours.pid)
        assert other.poll() is None
    finally:
        ours.kill()
        other.kill()


def test_child_that_ignores_request_to_end_is_ended_with_its_children(tmp_path):
    code = (
        "import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
        "print(p.pid, flush=True); time.sleep(60)"
    )
    lines: list[str] = []
    child = children.Child(
        "stubborn",
        become,
        *(sys.executable, "-c", code),
        environment=os.environ,
        log=tmp_path / "logs" / "stubborn.log",
        say=lambda name, line: lines.append(line),
    )
    child.start()
    deadline = time.monotonic() + 20
    while not lines:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    child.end(patience=0.2)
    assert child.returncode == -9
    while psutil.pid_exists(int(lines[0])):
        if psutil.Process(int(lines[0])).status() == "zombie":
            break
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert (tmp_path / "logs" / "stubborn.log").read_text().strip() == lines[0]


def test_socket_of_the_fork_server_is_in_the_data_directory_unless_its_path_is_too_long(tmp_path, monkeypatch):
    before = tempfile.gettempdir()
    with children.temporary_files_in(tmp_path):
        assert tempfile.gettempdir() == str(tmp_path)
    with children.temporary_files_in(tmp_path / ("long" * 20)):
        assert tempfile.gettempdir() == before
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / ("long" * 20)))
    with children.temporary_files_in(tmp_path / ("long" * 20)):
        assert tempfile.gettempdir() == "/tmp"
