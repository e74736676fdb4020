"""The run of an agent to which a request belongs, as its caller names it."""

from contextvars import ContextVar

HEADER = "X-MemoryHub-Run"
MAX_RUN_CHARS = 200
_current: ContextVar[str] = ContextVar("run_name", default="")


def current_run() -> str:
    """Return the run that the caller of this request has named, empty for none."""
    return _current.get()


def name_run(name: str) -> None:
    """Note the run of the request that is being answered. A longer name is cut; what cannot be printed is left out."""
    _current.set("".join(each for each in name if each.isprintable())[:MAX_RUN_CHARS])
