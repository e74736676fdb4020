import os
import subprocess
import sys
import time

import pytest

from memoryhub.postgres.lease import DatabaseLease
from memoryhub.postgres.server import EmbeddedDatabase

HOLDER = """
import sys
from pathlib import Path
from memoryhub.postgres.server import EmbeddedDatabase
from memoryhub.postgres.lease import DatabaseLease
lease = DatabaseLease(EmbeddedDatabase(Path(sys.argv[1]), durable=False))
lease.acquire()
print("held", flush=True)
sys.stdin.readline()
print("last" if lease.release() else "not last", flush=True)
"""


@pytest.fixture(scope="module")
def place(make_place):
    return make_place()


@pytest.fixture
def database(place):
    database = EmbeddedDatabase(place, durable=False)
    yield database
    database.stop()


class Holder:
    """Another process that uses the database."""

    def __init__(self, database: EmbeddedDatabase) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(database.data_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout.readline() == "held\n"

    def leave(self) -> str:
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def test_first_user_starts_server_and_only_one_stops_it(database):
    lease = DatabaseLease(database)
    lease.acquire()
    assert database.is_running()
    assert lease.release()
    assert not database.is_running()


def test_server_runs_on_while_another_process_uses_it(database):
    other = Holder(database)
    with DatabaseLease(database):
        pass
    assert database.is_running()
    assert other.leave() == "last"
    assert not database.is_running()


def test_the_one_who_started_it_may_leave_first(database):
    lease = DatabaseLease(database)
    lease.acquire()
    other = Holder(database)
    assert not lease.release()
    with database.connect() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert other.leave() == "last"


def test_a_killed_user_does_not_count(database):
    other = Holder(database)
    other.kill()
    assert database.is_running()
    lease = DatabaseLease(database)
    lease.acquire()
    assert lease.release()
    assert not database.is_running()


def test_process_forked_from_user_does_not_stop_server(database):
    with DatabaseLease(database) as lease:
        child = os.fork()
        if child == 0:
            os._exit(3 if lease.release() else 0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert database.is_running()


def test_many_that_come_and_go_at_once_always_find_server(database):
    code = """
import sys
from pathlib import Path
from memoryhub.postgres.server import EmbeddedDatabase
from memoryhub.postgres.lease import DatabaseLease
database = EmbeddedDatabase(Path(sys.argv[1]), durable=False)
for _ in range(4):
    with DatabaseLease(database), database.connect() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
"""
    users = [
        subprocess.Popen([sys.executable, "-c", code, str(database.data_dir)], stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for user in users:
        _, said = user.communicate(timeout=60)
        assert user.returncode == 0, said
    assert not database.is_running()


def test_leaving_by_force_ends_server_that_nobody_else_uses(database):
    lease = DatabaseLease(database)
    lease.acquire()
    lease.abandon()
    deadline = time.monotonic() + 5
    while database.is_running():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    lease.release()
