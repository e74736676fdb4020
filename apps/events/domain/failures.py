"""What is kept of the error of a task: its class and place, and its words only where they quote nothing."""

import re
from dataclasses import dataclass

MAX_FAILURE_CHARS = 300
# Errors whose texts are written for callers and quote no content (docs/contribute/style.md).
SAFE_ERRORS = "apps.core.domain.errors."
_FRAME = re.compile(r'^  File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>.+)$', re.MULTILINE)
_RAISED = re.compile(r"^(?P<name>[A-Za-z_][\w.]*)(?:: (?P<words>.*))?$", re.MULTILINE)


@dataclass(frozen=True)
class TaskFailure:
    """The error of a task. name: its class. place: file and line of ours, or the last one. words: its first line."""

    name: str
    place: str
    words: str

    def __str__(self) -> str:
        return f"{self.name} at {self.place}" if self.place else self.name

    @property
    def kept(self) -> str:
        """Return what may be kept in records of runs: nothing that could quote a memory."""
        is_safe = self.words and self.name.startswith(SAFE_ERRORS)
        short = f"{self.name.rpartition('.')[2]} at {self.place}" if self.place else self.name.rpartition(".")[2]
        return (f"{short}: {self.words}" if is_safe else short)[:MAX_FAILURE_CHARS]


def parse_failure(report: str) -> TaskFailure:
    """Read the text that django-q2 keeps of an error: its words, and then the traceback."""
    frames = list(_FRAME.finditer(report))
    raised = _RAISED.search(report, frames[-1].end() if frames else 0)
    if raised is None:
        return TaskFailure("Error", "", printable_line(report))
    ours = next((frame for frame in reversed(frames) if "/apps/" in frame["file"]), frames[-1] if frames else None)
    place = ""
    if ours is not None:
        # From the app on, or the last part.
        _, is_of_app, below = ours["file"].rpartition("/apps/")
        place = f"{below if is_of_app else ours['file'].rpartition('/')[2]}:{ours['line']}"
    return TaskFailure(raised["name"], place, printable_line(raised["words"] or ""))


def printable_line(text: str) -> str:
    """Return the first line of a text, without what cannot be printed."""
    line = text.strip().partition("\n")[0]
    return "".join(c if c.isprintable() else " " for c in line)[:MAX_FAILURE_CHARS]
