"""What the doctor of the hub looks at, and what it found (decision 0091)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import IntEnum

from apps.monitor.domain.problems import Problem, ProblemSeverity

Source = Callable[[], Iterable[Problem]]


class Verdict(IntEnum):
    """The result of an examination, and the exit code of `manage.py doctor`."""

    SOUND = 0
    WARNINGS = 1
    PROBLEMS = 2


@dataclass(frozen=True)
class Examination:
    """One subject. name: stable. sources: return what is wrong with it, and change nothing.

    thorough: sources that take the place of `sources` where every file is read. needs_database: it is left out while
    the database cannot be used.
    """

    name: str
    title: object
    sources: Sequence[Source]
    _: KW_ONLY
    thorough: Sequence[Source] = ()
    needs_database: bool = True


@dataclass(frozen=True)
class Examined:
    """What an examination found, the worst first. findings: None where it was left out."""

    name: str
    title: str
    findings: Sequence[Problem] | None
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """Return the result; one that was left out has none of its own. A notice is no warning."""
        worst = max((finding.severity for finding in self.findings or ()), default=ProblemSeverity.NOTICE)
        return {ProblemSeverity.CRITICAL: Verdict.PROBLEMS, ProblemSeverity.WARNING: Verdict.WARNINGS}.get(
            worst, Verdict.SOUND
        )


def verdict_of(examined: Iterable[Examined]) -> Verdict:
    """Return what examinations come to: the worst of their results."""
    return max((one.verdict for one in examined), default=Verdict.SOUND)
