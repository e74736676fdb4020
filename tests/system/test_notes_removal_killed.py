"""Processes that delete and rename notes are killed at every step: the text is in one place, and restorable."""

import pytest

from apps.notes.domain.places import MAIN, parse_place
from apps.notes.files.changes import note_append, note_read, note_restore
from apps.notes.files.owner import folder_of
from apps.notes.files.removal import DELETE_STEPS, RENAME_STEPS, note_delete
from apps.notes.files.versions import text_of
from apps.notes.models import ChangeKind, NoteVersion
from tests.system.notes_process import delete_and_die, killed, rename_and_die

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("notes_dir"),
    pytest.mark.xdist_group("killed"),
]


@pytest.mark.parametrize("step", DELETE_STEPS)
def test_deletion_that_was_killed_is_done_or_not(step):
    note_append("ana", MAIN, "tea", author="test")
    killed(delete_and_die, step)
    is_there = (folder_of("ana").path / "MEMORY.md").exists()
    note = note_read("ana", MAIN)
    assert note.text == (b"- tea\n" if is_there else None)
    assert is_there == (step in {"record", "take away"})
    assert not NoteVersion.objects.filter(is_written=False).exists()
    if is_there:
        note_delete("ana", MAIN, author="test")
    note_restore("ana", MAIN, 1, author="test")
    assert note_read("ana", MAIN).text == b"- tea\n"


@pytest.mark.parametrize("step", RENAME_STEPS)
@pytest.mark.parametrize(("old", "new"), [("a/tea.md", "b/green.md"), ("a", "c/d")], ids=["file", "folder"])
def test_renaming_that_was_killed_is_done_or_not(step, old, new):
    before = parse_place("a/tea.md")
    after = parse_place(new if new.endswith(".md") else f"{new}/tea.md")
    note_append("ana", before, "tea", author="test")
    killed(rename_and_die, old, new, step)
    texts = [note_read("ana", place).text for place in (before, after)]
    assert texts in ([b"- tea\n", None], [None, b"- tea\n"])
    is_done = texts[0] is None
    assert is_done == (step not in {"record", "rename"})
    assert not NoteVersion.objects.filter(is_written=False).exists()
    kinds = list(NoteVersion.objects.order_by("pk").values_list("kind", flat=True))
    assert kinds == [ChangeKind.APPEND, *([ChangeKind.RENAME] * 2 if is_done else [])]
    last = NoteVersion.objects.order_by("pk").last()
    assert last is not None
    assert text_of(last) == b"- tea\n"
