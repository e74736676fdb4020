"""The processes that serve a PostgreSQL data directory; others that got their numbers are excluded."""

from contextlib import suppress
from pathlib import Path

import psutil


def find_postmaster(pgdata: Path) -> psutil.Process | None:
    """Return the live server process that `postmaster.pid` names; None for a dead, a zombie or a foreign one."""
    try:
        process = psutil.Process(int((pgdata / "postmaster.pid").read_text().split("\n", 1)[0]))
        alive = process.status() != psutil.STATUS_ZOMBIE
    except (OSError, ValueError, psutil.Error):
        return None
    return process if alive and serves(process, pgdata) else None


def find_launched(pgdata: Path) -> list[psutil.Process]:
    """List what will be the server of a directory, and has not written its `postmaster.pid` yet."""
    found = []
    for process in psutil.process_iter(["name"]):
        if process.info["name"] in {"pg_ctl", "sh", "postgres"}:
            with suppress(psutil.Error):
                arguments = process.cmdline()
                # The shell that becomes the server has everything in one argument, in quotes.
                if str(pgdata) in arguments or any(f'"{pgdata}"' in argument for argument in arguments):
                    found.append(process)
    return found


def serves(process: psutil.Process, pgdata: Path) -> bool:
    """Return whether `process` is a PostgreSQL process (server or backend) that works in `pgdata`."""
    try:
        return process.name() == "postgres" and Path(process.cwd()) == pgdata.resolve()
    except (OSError, psutil.Error):
        return False


def end_orphans(pgdata: Path, patience: float = 2.0) -> None:
    """End backends that outlived their server: the next server must not share memory with them.

    patience: seconds in which they may end without being killed.
    """
    orphans = [process for process in psutil.process_iter(["name"]) if serves(process, pgdata)]
    _, alive = psutil.wait_procs(orphans, timeout=patience)
    for process in alive:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(alive, timeout=5)
