"""A restart of the worker, which a page requests of the supervisor of `manage.py up`: a file between two processes."""

from pathlib import Path

NAME = "restart-worker"


def request_restart(data_dir: Path) -> None:
    """Have the supervisor of this data directory restart its worker. Raises OSError where that cannot be written."""
    place = data_dir / "run"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    (place / NAME).touch(mode=0o600)


def take_restart(data_dir: Path) -> bool:
    """Return whether a restart was requested, which is so once."""
    try:
        (data_dir / "run" / NAME).unlink()
    except OSError:
        return False
    return True
