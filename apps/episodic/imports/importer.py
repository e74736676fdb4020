"""Record many events from a stream, in groups, so that memory and transactions stay small."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import IO

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Access
from apps.episodic.imports.lines import EventLine, LineProblem, read_events
from apps.episodic.recording.record import RecordAction, events_record

GROUP_LINES = 500
GROUP_BYTES = 8 * 1024 * 1024
MAX_PROBLEMS = 1_000


@dataclass
class EventImport:
    """What an import did. lines: those that are not blank = recorded + duplicates + failed.

    problems: the first MAX_PROBLEMS of the lines that failed.
    """

    recorded: int = 0
    duplicates: int = 0
    failed: int = 0
    problems: list[LineProblem] = field(default_factory=list)

    @property
    def lines(self) -> int:
        """Return how many lines were not blank."""
        return self.recorded + self.duplicates + self.failed

    def fail(self, problems: Iterable[LineProblem]) -> None:
        """Note a line that was not recorded."""
        self.failed += 1
        self.problems += islice(problems, MAX_PROBLEMS - len(self.problems))


def events_import(*, access: Access, stream: IO[bytes], progress: Callable[[int], None] | None = None) -> EventImport:
    """Record the events of JSON Lines, group by group, each group in a transaction of its own.

    A line that cannot be recorded stops no other. Importing the same again records nothing twice, so an import that
    was cut off is resumed by repeating it. progress: receives how many lines were processed since its last call.
    Raises UnavailableError while files are still being loaded; then the groups before it are recorded. Call it outside
    a transaction.
    """
    report = EventImport()
    for group in groups_of(read_events(stream)):
        record_group(report, access, group)
        if progress is not None:
            progress(len(group))
    return report


def groups_of(lines: Iterator[EventLine]) -> Iterator[list[EventLine]]:
    """Yield the lines in groups of GROUP_LINES, or of about GROUP_BYTES."""
    group: list[EventLine] = []
    size = 0
    for line in lines:
        group.append(line)
        size += line.size
        if len(group) >= GROUP_LINES or size >= GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def record_group(report: EventImport, access: Access, group: list[EventLine]) -> None:
    """Record the events of some lines, and note what became of each."""
    drafts = [line.draft for line in group if line.draft is not None]
    outcomes = iter(events_record(access=access, drafts=drafts) if drafts else ())
    for line in group:
        if line.draft is None:
            report.fail(line.problems)
            continue
        outcome = next(outcomes)
        if isinstance(outcome, MemoryHubError):
            report.fail([LineProblem(line.number, outcome.code, outcome.detail, outcome.attr)])
        elif outcome.action is RecordAction.RECORDED:
            report.recorded += 1
        else:
            report.duplicates += 1
