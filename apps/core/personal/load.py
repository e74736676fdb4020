"""Imports: the lines of an export, batch by batch, each of which is written as a whole or not at all."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from django.db import DataError, IntegrityError, transaction

from apps.core.domain.errors import InvalidInputError
from apps.core.personal.export import FORMAT
from apps.core.personal.registry import personal_stores, store_of_kind
from apps.core.personal.store import Line, LineError, PersonalStore

BATCH_LINES = 1_000
BATCH_BYTES = 8 * 1024 * 1024
MAX_LINE_BYTES = 64 * 1024 * 1024
HEADER, END = "header", "end"
Advance = Callable[[int], None]


class RefusedFileError(InvalidInputError):
    """A file that cannot be imported, or not from some line on. Batches before that line stay."""

    code = "refused_file"


@dataclass
class LoadReport:
    """What an import did, by kind of line. read: lines of the file. new: of those, what was not in the hub before.

    skipped: settings, where the hub was not empty. is_complete: whether the export held everything that it should.
    """

    read: Counter[str] = field(default_factory=Counter)
    new: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    is_complete: bool = True


@dataclass
class Batch:
    """Lines that follow each other and are of one kind. numbers: theirs in the file, from 1."""

    kind: str
    lines: list[Line] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    size: int = 0

    def takes(self, kind: str) -> bool:
        """Return whether one more line of a kind belongs to it."""
        return kind == self.kind and len(self.lines) < BATCH_LINES and self.size < BATCH_BYTES


def import_lines(source: Iterable[bytes], advance: Advance | None = None) -> LoadReport:
    """Load the lines of an export, and return what became of them. advance: is called with the bytes of each batch.

    What is in the hub already stays as it is, so an import that broke off is begun again from the start. Raises
    RefusedFileError, which names the line.
    """
    report = LoadReport()
    # An empty hub: no store that lines are loaded into holds anything but settings.
    takes_settings = all(store.is_empty() for store in personal_stores() if store.kinds and not store.is_settings)
    is_ended = False
    for batch in read_batches(source):
        if is_ended:
            raise RefusedFileError(f"Line {batch.numbers[0]}: nothing follows the end of an export.")
        if batch.kind == END:
            end = batch.lines[0]
            if end.get("lines") != dict(report.read):
                raise RefusedFileError(
                    f"Line {batch.numbers[0]}: this file does not have the same lines as the export. "
                    "They were imported; import the complete export."
                )
            report.is_complete = end.get("complete") is True
            is_ended = True
        elif batch.kind != HEADER:
            store = store_of_kind(batch.kind)
            if store is None:
                raise RefusedFileError(f"Line {batch.numbers[0]}: damaged, its kind is unknown.")
            report.read[batch.kind] += len(batch.lines)
            if store.is_settings and not takes_settings:
                report.skipped[batch.kind] += len(batch.lines)
            else:
                report.new[batch.kind] += load_batch(store, batch)
        if advance is not None:
            advance(batch.size)
    if not is_ended:
        raise RefusedFileError(
            "The file ends before the export did: its last line is missing. What came before was imported; "
            "export again, and import the whole file."
        )
    return report


def read_batches(source: Iterable[bytes]) -> Iterator[Batch]:
    """Yield the header, batches of lines of one kind, and the end. Raises RefusedFileError."""
    batch: Batch | None = None
    for number, raw in enumerate(source, 1):
        line = parse_line(number, raw)
        kind = line["kind"]
        if (number == 1) != (kind == HEADER):
            raise RefusedFileError(f"Line {number}: an export has exactly one header, in its first line.")
        if kind == HEADER:
            version = line.get("format")
            if not isinstance(version, int) or isinstance(version, bool) or version < 1:
                raise RefusedFileError("Line 1: damaged, the header does not name a format.")
            if version > FORMAT:
                raise RefusedFileError(
                    f"The export has format {version}, and this hub reads up to {FORMAT}. "
                    f"Update the hub: the export was made by version {str(line.get('hub'))[:50]}."
                )
        if batch is not None and not batch.takes(kind):
            yield batch
            batch = None
        batch = batch or Batch(kind)
        batch.lines.append(line)
        batch.numbers.append(number)
        batch.size += len(raw)
    if batch is None:
        raise RefusedFileError("The file is empty: an export begins with a header.")
    yield batch


def parse_line(number: int, raw: bytes) -> Line:
    """Return a line, which has a kind. Raises RefusedFileError."""
    if len(raw) > MAX_LINE_BYTES:
        raise RefusedFileError(f"Line {number}: longer than {MAX_LINE_BYTES} bytes.")
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise RefusedFileError(f"Line {number}: damaged, it is not JSON.") from error
    if not isinstance(line, dict) or not isinstance(line.get("kind"), str):
        raise RefusedFileError(f"Line {number}: damaged, an object with a kind is expected.")
    return line


def load_batch(store: PersonalStore, batch: Batch) -> int:
    """Load a batch in a transaction of its own; return how many lines were new. Raises RefusedFileError."""
    try:
        with transaction.atomic():
            return store.load(batch.lines)
    except LineError as error:
        raise RefusedFileError(f"Line {batch.numbers[error.place]}: {error.problem}.") from error
    except (DataError, IntegrityError, ValueError) as error:
        place = find_refused(store, batch.lines)
        constraint = getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)
        reason = f"the database refuses it ({constraint or type(error).__name__})"
        raise RefusedFileError(f"Line {batch.numbers[place]}: {reason}.") from error


def find_refused(store: PersonalStore, lines: list[Line]) -> int:
    """Return the place of the first line that the database refuses, by halves. Nothing stays written."""
    accepted, refused = 0, len(lines)
    while refused - accepted > 1:
        middle = (accepted + refused) // 2
        try:
            with transaction.atomic():
                store.load(lines[:middle])
                transaction.set_rollback(True)
        except (DataError, IntegrityError, ValueError, LineError):
            refused = middle
        else:
            accepted = middle
    return refused - 1
