"""Record many events as JSON Lines from outside, in groups, so that memory and transactions stay small."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, Any

from rest_framework.exceptions import ParseError, ValidationError

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Access
from apps.core.schemas.batches import ItemRefusedError, refusal_of, validate_item
from apps.core.schemas.bodies import item_limit
from apps.core.schemas.parsers import parse_json
from apps.episodic.domain.event import EventDraft
from apps.episodic.recording.record import RecordAction, events_record
from apps.episodic.schemas.events import EventInput, draft_of

# Members of an exported line that say how a hub keeps the event: the one that imports it makes its own.
EXPORTED = frozenset({"arrival", "id", "identity", "recorded_at", "actor"})
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
GROUP_LINES = 500
GROUP_BYTES = 8 * 1024 * 1024
MAX_PROBLEMS = 1_000


@dataclass(frozen=True)
class LineProblem:
    """What is wrong with a line, counted from 1. attr: the field, None for the line as a whole."""

    line: int
    code: str
    detail: str
    attr: str | None = None


@dataclass(frozen=True)
class EventLine:
    """A line that is not blank, with the event that it describes, or why it describes none. size: in bytes."""

    number: int
    size: int
    draft: EventDraft | None
    problems: tuple[LineProblem, ...] = ()


def read_events(stream: IO[bytes]) -> Iterator[EventLine]:
    """Yield the lines of a stream one by one, with no more than one of them in memory. Blank ones are passed over."""
    limit = item_limit().size
    for number, line in enumerate(read_lines(stream, limit), 1):
        if line is None:
            problem = LineProblem(number, "too_large", f"The line is too large: at most {limit} bytes.")
            yield EventLine(number, limit, None, (problem,))
        elif line.strip():
            yield check_line(number, line)


def read_lines(stream: IO[bytes], limit: int) -> Iterator[bytes | None]:
    """Yield each line of a stream; None for one of more bytes than the limit, which is not kept."""
    mark = BYTE_ORDER_MARK
    while line := stream.readline(limit + 1):
        is_whole = len(line) <= limit or line.endswith(b"\n")
        yield line.removeprefix(mark) if is_whole else None
        while not is_whole and line and not line.endswith(b"\n"):
            line = stream.readline(limit)
        mark = b""


def check_line(number: int, line: bytes) -> EventLine:
    """Return a line with its event, or with what is wrong with it."""
    try:
        fields = parse_json(line, item_limit().values)
        if isinstance(fields, dict):
            fields = {name: value for name, value in fields.items() if name not in EXPORTED}
        return EventLine(number, len(line), draft_of(validate_item(EventInput, fields)))
    except ItemRefusedError as refused:
        problems = problems_of(number, refused.answer["errors"])
    except ValidationError as refused:
        problems = problems_of(number, refusal_of(refused)["errors"])
    except ParseError as error:
        problems = (LineProblem(number, error.default_code, str(error.detail)),)
    return EventLine(number, len(line), None, problems)


def problems_of(number: int, errors: Iterable[dict[str, Any]]) -> tuple[LineProblem, ...]:
    """Return the problems that an error answer names."""
    return tuple(LineProblem(number, error["code"], error["detail"], error["attr"]) for error in errors)


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
