"""The disk fills up and the database ends: the hub waits, says so, and comes back when there is room."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.system.hub import Hub, alive, wait_for

pytestmark = pytest.mark.xdist_group("another hub")

SIZE_MB = 400


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, of some hundred megabytes in memory."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small file system")
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m,mode=0755", "none", str(disk)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


@pytest.fixture
def hub(small_disk: Path) -> Iterator[Hub]:
    hub = Hub(small_disk / "hub")
    hub.output = small_disk.with_name("up.output")
    hub.make_cluster()
    hub.start()
    yield hub
    hub.end()


def fill(disk: Path) -> Path:
    """Write until nothing fits any more."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12):
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"x" * size)
    return filler


def kill_database(hub: Hub) -> None:
    os.kill(hub.database.pid, signal.SIGKILL)


def write_until_it_ends(hub: Hub) -> None:
    """Write into the database until it finds no room for its write-ahead log."""
    pid = hub.database.pid
    with contextlib.suppress(psycopg.Error):
        while psutil.pid_exists(pid):
            with hub.database.connect() as connection:
                connection.execute("CREATE TABLE IF NOT EXISTS junk (words text)")
                for _ in range(20):
                    connection.execute("INSERT INTO junk SELECT repeat('word ', 200) FROM generate_series(1, 2000)")
    with contextlib.suppress(psycopg.Error), hub.database.connect() as connection:
        # Full for rows, and still able to go on: what ends it in earnest is a restart without room.
        connection.execute("CHECKPOINT")
    if hub.database.pid == pid:
        kill_database(hub)


@pytest.mark.parametrize("end_database", [kill_database, write_until_it_ends])
def test_hub_waits_for_room_on_full_disk_and_comes_back(hub, small_disk, end_database):
    fill(small_disk)
    end_database(hub)

    def is_said() -> bool:
        """Return whether the hub says why it waits; end the database again where its end had left room to start."""
        if "The disk of the data directory is full" in hub.said():
            return True
        with contextlib.suppress(psycopg.Error, OSError):
            hub.database.connect().close()
            fill(small_disk)
            kill_database(hub)
        return False

    wait_for(is_said, "plain words")
    fill(small_disk)  # what the server has left of it
    wait_for(lambda: hub.get("/readyz") in (503, None), "not ready")
    assert hub.is_up(), hub.said()
    (small_disk / "filler").unlink()
    wait_for(lambda: hub.get("/readyz") == 200, "recovery")
    assert hub.is_up()
    assert alive(psutil.Process(hub.database.pid))
    said = hub.said()
    assert "The database is running again." in said
    assert not any("Traceback" in line for line in said.splitlines() if "│" not in line), "of up itself"
