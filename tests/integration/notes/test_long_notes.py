"""What an append, a version and a look cost does not grow with the number of appends before."""

import zlib
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.notes.domain.places import daily_place
from apps.notes.domain.text import add_entry, digest
from apps.notes.files.changes import note_append, note_edit, note_read
from apps.notes.files.desk import NoteChangedError
from apps.notes.files.folder import MAX_BYTES
from apps.notes.files.overwritten import find_overwritten
from apps.notes.files.owner import folder_of
from apps.notes.files.versions import WHOLE_EVERY, text_of
from apps.notes.models import ChangeKind, NoteVersion
from tests.timing import assert_quick

pytestmark = pytest.mark.django_db
NOW = datetime.now(UTC)
LOG = daily_place(NOW.date())
COUNTS = [5_000, 10_000]


def append(entry, **options):
    return note_append("ana", LOG, entry, author="test", **options)[0]


def write_many(count):
    """Make a log with so many entries and their versions, as so many appends do."""
    text, versions = b"", []
    for number in range(1, count + 1):
        insertion = add_entry(text, f"12:00 entry {number} of the day")
        text = insertion.apply(text)
        versions.append(
            NoteVersion(
                user_id="ana",
                place=str(LOG),
                number=number,
                kind=ChangeKind.APPEND,
                sha256=digest(text) if number == count else "",
                size=len(text),
                text=zlib.compress(insertion.inserted),
                whole=None if number % WHOLE_EVERY else zlib.compress(text),
                offset=insertion.offset,
                operation=f"operation {number}",
                author="test",
                at=NOW - timedelta(seconds=count - number),
            )
        )
    NoteVersion.objects.bulk_create(versions, batch_size=1_000)
    file = folder_of("ana").path / str(LOG)
    file.parent.mkdir(parents=True)
    file.write_bytes(text)
    return text


@pytest.mark.parametrize("count", COUNTS)
def test_many_appends_to_one_note_cost_no_more_than_few(count):
    text = write_many(count)
    assert note_read("ana", LOG).version.number == count
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE notes_noteversion")
    for number in (count, count - WHOLE_EVERY // 2, count // 2 + 1):
        version = NoteVersion.objects.get(number=number)
        assert text_of(version) == b"".join(text.splitlines(keepends=True)[:number])
        assert_quick(lambda _, version=version: text_of(version), "", 0.05)
    assert_quick(lambda word: append(f"more {word}"), "", 0.1)
    seen = text[: text.index(b"entry 20 ")]
    assert len(find_overwritten("ana", LOG, seen, NOW)) >= 15 * 60, "one a second: those of 15 minutes"
    assert_quick(lambda _: find_overwritten("ana", LOG, seen, NOW), "", 0.3)
    seen = text[: text.index(b"entry %d " % (count - 5))]
    assert_quick(lambda _: find_overwritten("ana", LOG, seen, NOW), "", 0.15)
    file = folder_of("ana").path / str(LOG)
    file.write_bytes(text + b"mine\n")
    assert_quick(lambda _: note_read("ana", LOG), "", 0.3)


def test_append_makes_the_same_few_queries_every_time():
    asked = []
    for number in range(3):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            append(f"entry {number}", operation=f"turn {number}")
        asked.append(len(queries))
    assert asked == [7, 7, 7]


def test_every_version_has_its_text_whatever_was_kept_in_between():
    """Also where a text that lost to another change has the number at which a whole one would be stored."""
    for number in range(WHOLE_EVERY - 1):
        append(f"entry {number}")
    for number in range(2):
        with pytest.raises(NoteChangedError):
            note_edit("ana", LOG, f"lost {number}", base="0" * 64, author="test")
    texts = {}
    for number in range(3):
        version = append(f"more {number}")
        texts[version.number] = note_read("ana", LOG).text
    kept = NoteVersion.objects.filter(kind=ChangeKind.KEPT).order_by("number")
    assert [(each.number, text_of(each)) for each in kept] == [(100, b"lost 0"), (101, b"lost 1")]
    assert {number: text_of(NoteVersion.objects.get(number=number)) for number in texts} == texts
    whole = NoteVersion.objects.filter(whole__isnull=False)
    assert [each.number for each in whole] == [102], "the first append that follows"


def test_append_to_a_huge_note_is_quick():
    folder = folder_of("ana")
    (folder.path / "daily").mkdir(parents=True)
    line = b"- a line of some words that fills the file well enough\n"
    (folder.path / str(LOG)).write_bytes(b"## Plans\n\n- x\n\n## More\n\n" + line * (4 * 1024 * 1024 // len(line)))
    assert note_read("ana", LOG).text is not None
    for number in range(20):
        append(f"entry {number}")
    assert_quick(lambda word: append(f"more {word}"), "", 0.15)
    assert_quick(lambda word: append(f"a plan {word}", category="Plans"), "", 0.2)
    assert (folder.path / str(LOG)).stat().st_size < MAX_BYTES
