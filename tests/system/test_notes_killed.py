"""Processes that write notes are killed at every step, and write in a crowd: each entry is there once."""

import time
from collections import Counter

import pytest

from apps.notes.domain.places import MAIN
from apps.notes.files import folder as folders
from apps.notes.files.changes import note_append, note_read
from apps.notes.files.desk import WRITE_STEPS
from apps.notes.files.folder import REPLACE_STEPS
from apps.notes.files.owner import folder_of
from apps.notes.files.versions import latest, text_of
from apps.notes.index.disk import place_of
from apps.notes.index.handles import index_of
from apps.notes.models import NoteVersion
from apps.notes.services import index_refresh, notes_look
from tests.effort import IS_THOROUGH
from tests.system.notes_process import append_and_die, append_many, begin, edit_and_die, killed, save_like_an_editor

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("notes_dir"),
    pytest.mark.xdist_group("killed"),
]
STEPS = [step for step in (*WRITE_STEPS, *REPLACE_STEPS) if step != "confirmed"]


@pytest.mark.parametrize("step", STEPS)
def test_append_that_was_killed_is_there_once_when_it_is_repeated(step):
    note_append("ana", MAIN, "tea", author="test")
    killed(append_and_die, "rice", "turn-7", step)
    file = folder_of("ana").path / "MEMORY.md"
    assert file.read_text() in {"- tea\n", "- tea\n- rice\n"}, "whole"
    note_append("ana", MAIN, "rice", author="test", operation="turn-7")
    assert file.read_text() == "- tea\n- rice\n"
    note = note_read("ana", MAIN)
    assert note.version is not None
    assert text_of(note.version) == note.text
    assert not NoteVersion.objects.filter(is_written=False).exists()


@pytest.mark.parametrize("step", STEPS)
def test_edit_that_was_killed_is_done_or_not(step):
    note_append("ana", MAIN, "tea", author="test")
    killed(edit_and_die, "mine", step)
    file = folder_of("ana").path / "MEMORY.md"
    assert file.read_text() in {"- tea\n", "mine"}
    note_append("ana", MAIN, "rice", author="test")
    assert file.read_text() in {"- tea\n- rice\n", "mine\n- rice\n"}


EDITORS = {"one by rename": [False], "one in place": [True], "both at once": [False, True]}
# Of each of eight processes: 2,000 in all for the gate, once; each entry is written into what is there already.
ENTRIES = {kind: 25 if not IS_THOROUGH else 250 if kind == "both at once" else 60 for kind in EDITORS}
SAVES = 40 if IS_THOROUGH else 8


def indexed_lines():
    """Return how often each line is in the index of ana, brought up to the files."""
    index_refresh("ana")
    with index_of(place_of("ana")).database.connection() as connection:
        rows = connection.execute("SELECT text FROM chunks JOIN texts ON texts.id = text_id").fetchall()
    return Counter(line for (text,) in rows for line in text.splitlines() if line.strip())


@pytest.mark.parametrize("kind", EDITORS)
def test_crowd_and_editors_lose_nothing(kind):
    """Eight processes append while editors save by rename and in place, and the schedule and the index look."""
    note_append("ana", MAIN, "first", author="test")
    file = folder_of("ana").path / "MEMORY.md"
    crowd = [begin(append_many, f"process {number}", ENTRIES[kind]) for number in range(8)]
    editors = [begin(save_like_an_editor, str(file), f"editor {each}", SAVES, each) for each in EDITORS[kind]]
    while any(process.is_alive() for process in (*crowd, *editors)):
        notes_look()
        index_refresh("ana")
        time.sleep(0.2)
    assert {process.exitcode for process in (*crowd, *editors)} == {0}
    time.sleep(folders.SETTLE_SECONDS + 0.1)
    note = note_read("ana", MAIN)
    lines = Counter((note.text or b"").decode().splitlines())
    expected = {f"- process {number} {entry}" for number in range(8) for entry in range(ENTRIES[kind])}
    assert {line: lines[line] for line in expected if lines[line] != 1} == {}
    version = latest("ana", MAIN)
    assert version is not None
    assert text_of(version) == note.text
    assert [path.name for path in file.parent.iterdir()] == ["MEMORY.md"]
    assert indexed_lines() == Counter(line for line in (note.text or b"").decode().splitlines() if line.strip())
    if len(editors) == 1:  # two editors may save over each other
        everything = [text_of(each) for each in NoteVersion.objects.all()]
        saved = [f"editor {EDITORS[kind][0]} {number}".encode() for number in range(SAVES)]
        assert [line for line in saved if not any(line in text for text in everything)] == []
