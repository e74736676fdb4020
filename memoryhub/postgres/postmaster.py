"""Which processes serve a PostgreSQL data directory, told apart from strangers that got their numbers."""

from contextlib import suppress
from pathlib import Path

import psutil


def find_postmaster(pgdata: Path) -> psutil.Process | None:
    """The live server process that `postmaster.pid` names; None for a dead, a zombie or a foreign one."""
    try:
        process = psutil.Process(int((pgdata / "postmaster.pid").read_text().split("\n", 1)[0]))
        alive = process.status() != psutil.STATUS_ZOMBIE
    except (OSError, ValueError, psutil.Error):
        return None
    return process if alive and serves(process, pgdata) else None


def serves(process: psutil.Process, pgdata: Path) -> bool:
    """True when `process` is a PostgreSQL process (server or backend) that works in `pgdata`."""
    try:
        return process.name() == "postgres" and Path(process.cwd()) == pgdata.resolve()
    except (OSError, psutil.Error):
        return False


def end_orphans(pgdata: Path, patience: float = 2.0) -> None:
    """End backends that outlived their server: the next server must not share memory with them.

    patience: seconds that they get to notice by themselves.
    """
    orphans = [process for process in psutil.process_iter(["name"]) if serves(process, pgdata)]
    _, alive = psutil.wait_procs(orphans, timeout=patience)
    for process in alive:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(alive, timeout=5)
