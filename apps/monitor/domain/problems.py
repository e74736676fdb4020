"""Problems: what needs a person, in one sentence each, with the button that helps."""

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum


class ProblemSeverity(IntEnum):
    """How bad a problem is; the worst is shown first."""

    NOTICE = 1
    WARNING = 2
    CRITICAL = 3


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """A button that helps. url: of a page, or with `is_post` of a view that acts at once. permission: to press it."""

    label: str
    url: str
    is_post: bool = False
    permission: str = ""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Something that needs a person.

    code: stable, for example `worker_stopped`; with `subject` it identifies the problem. sentence: what is wrong.
    advice: what to do. permission: who may see it, such as `semantic.view_conflict`; it is never shown to accounts
    with a bound. since: when it began, where that is known.
    """

    code: str
    severity: ProblemSeverity
    sentence: str
    advice: str
    permission: str
    subject: str = ""
    since: datetime | None = None
    remedy: Remedy | None = None
