"""Deleting and renaming notes beside editors that write the same files."""

import os

import pytest

from apps.core.domain.errors import ConflictError, InvalidInputError, NotFoundError
from apps.notes.commands.run import note_revise
from apps.notes.domain.places import MAIN, parse_place
from apps.notes.files import folder as folders
from apps.notes.files.changes import note_append, note_edit, note_read, note_restore
from apps.notes.files.owner import folder_of
from apps.notes.files.removal import folder_delete, note_delete, note_rename
from apps.notes.files.versions import text_of
from apps.notes.models import ChangeKind, NoteVersion
from apps.notes.services import notes_look

pytestmark = pytest.mark.django_db
OTHER = parse_place("past/other.md")


@pytest.fixture
def main():
    note_append("ana", MAIN, "tea", author="test")
    return folder_of("ana").path / "MEMORY.md"


def kinds(place=MAIN):
    return list(NoteVersion.objects.of("ana", place).order_by("number").values_list("kind", flat=True))


def texts():
    return {text_of(each) for each in NoteVersion.objects.all()}


def save_at(path, text, wanted, times=1):
    """Return a function of steps that saves by renaming when a step comes."""
    left = [times]

    def save(step):
        if step == wanted and left[0]:
            left[0] -= 1
            aside = path.with_suffix(".tmp")
            aside.write_text(f"{text} {left[0]}")
            aside.rename(path)

    return save


@pytest.mark.parametrize("step", ["record", "take away", "sync directory"])
def test_what_an_editor_saves_in_the_moment_of_a_deletion_is_a_version(main, step):
    note_delete("ana", MAIN, author="test", step=save_at(main, "mine", step))
    note = note_read("ana", MAIN)
    # Saved before the file was taken away, it is deleted as well; saved after it, it is a new file.
    assert (note.text is None) == (step != "sync directory")
    assert b"mine 0" in texts()
    assert ChangeKind.DELETE in kinds()


def test_what_an_editor_writes_to_a_deleted_file_that_it_has_open_is_kept(main, monkeypatch):
    monkeypatch.setattr(folders, "SETTLE_SECONDS", 0.0)
    monkeypatch.setattr(folders, "DONE_SECONDS", 0.0)
    with main.open("r+b") as opened:
        note_delete("ana", MAIN, author="test")
        opened.write(b"- mine\n")
    assert notes_look() > 0
    assert (note_read("ana", MAIN).text, kinds()[-1]) == (None, ChangeKind.KEPT)
    assert b"- mine\n" in texts()
    notes_look()
    assert not [path for path in main.parent.iterdir() if path.is_file()], "hidden files vanish"


def test_note_that_is_too_large_in_the_moment_of_its_deletion_stays(main):
    large = "x" * folders.MAX_BYTES
    with pytest.raises(InvalidInputError) as refused:
        note_delete("ana", MAIN, author="test", step=save_at(main, large, "take away"))
    assert refused.value.code == "too_large"
    assert refused.value.detail.startswith("MEMORY.md ")
    assert main.stat().st_size > folders.MAX_BYTES
    assert [path.name for path in main.parent.iterdir() if "displaced" in path.name and path.stat().st_size > 99] == []
    assert ChangeKind.DELETE not in kinds()


def test_folder_with_a_note_that_cannot_be_read_is_not_deleted_in_part(main):
    for name in ("a", "c"):
        note_append("ana", parse_place(f"past/{name}.md"), "tea", author="test")
    (main.parent / "past" / "b.md").write_bytes(b"x" * (folders.MAX_BYTES + 1))
    with pytest.raises(InvalidInputError):
        folder_delete("ana", parse_place("past"), author="test")
    assert {path.name for path in (main.parent / "past").glob("[a-z]*")} == {"a.md", "b.md", "c.md"}


def test_entry_of_a_deleted_note_is_not_added_again(main):
    note_delete("ana", MAIN, author="test")
    main.write_text("- rice\n")
    assert note_read("ana", MAIN).text == b"- rice\n"
    note_append("ana", MAIN, "plums", author="test")
    assert main.read_text() == "- rice\n- plums\n"


def test_version_of_a_deletion_is_not_restored(main):
    deletion = note_delete("ana", MAIN, author="test")
    with pytest.raises(ConflictError) as refused:
        note_restore("ana", MAIN, deletion.number, author="test")
    assert refused.value.code == "no_text"
    assert not main.exists()


def test_deleted_note_can_be_made_again_as_an_empty_one(main):
    note_delete("ana", MAIN, author="test")
    version = note_edit("ana", MAIN, "", base=None, author="test")
    assert (version.kind, main.read_bytes()) == (ChangeKind.EDIT, b"")
    assert note_edit("ana", MAIN, "", base=version.sha256, author="test") == version


def test_deletion_of_nothing_says_so():
    with pytest.raises(NotFoundError):
        note_delete("ana", MAIN, author="test")
    assert kinds() == []


@pytest.mark.parametrize("step", ["record", "rename", "sync directory"])
def test_what_an_editor_saves_in_the_moment_of_a_renaming_is_there(main, step):
    note_rename("ana", MAIN, OTHER, author="test", step=save_at(main, "mine", step))
    notes = [note_read("ana", place).text for place in (MAIN, OTHER)]
    assert notes == ([b"mine 0", b"- tea\n"] if step == "sync directory" else [None, b"mine 0"])
    assert b"- tea\n" in texts()


def test_editor_that_has_a_renamed_file_open_writes_to_it(main):
    with main.open("ab") as opened:
        note_rename("ana", MAIN, OTHER, author="test")
        opened.write(b"- mine\n")
    assert note_read("ana", OTHER).text == b"- tea\n- mine\n"
    assert kinds(OTHER) == [ChangeKind.RENAME, ChangeKind.FOUND]


def test_file_that_appears_in_the_moment_of_a_renaming_is_not_replaced(main):
    other = folder_of("ana").path / "past" / "other.md"

    def appear(step):
        if step == "rename":
            other.parent.mkdir()
            other.write_text("mine")

    with pytest.raises(ConflictError) as refused:
        note_rename("ana", MAIN, OTHER, author="test", step=appear)
    assert refused.value.code == "exists"
    assert [note_read("ana", place).text for place in (MAIN, OTHER)] == [b"- tea\n", b"mine"]
    assert not NoteVersion.objects.filter(kind=ChangeKind.RENAME).exists()


def test_revision_is_made_of_what_an_editor_has_saved_since(main):
    def revise(text):
        return (text or b"").replace(b"tea", b"plums").replace(b"mine", b"ours")

    version, text = note_revise("ana", MAIN, revise, author="test", step=save_at(main, "mine", "exchange", times=2))
    # The entry that the editor had not seen was added again, and is in what was revised.
    assert (text, main.read_bytes(), version.kind) == (b"ours 0\nours 1\n- plums\n", text, ChangeKind.EDIT)
    assert {b"- tea\n", b"mine 1", b"mine 0"} <= texts()


def test_folder_without_permission_says_so(main):
    if os.geteuid() == 0:
        pytest.skip("root may do everything")
    main.parent.chmod(0o500)
    with pytest.raises(ConflictError):
        note_delete("ana", MAIN, author="test")
    main.parent.chmod(0o700)
    assert note_read("ana", MAIN).text == b"- tea\n"
