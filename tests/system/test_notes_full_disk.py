"""Notes on a disk that is full, or may only be read: a clear error, whole files, and the hub goes on afterwards."""

import contextlib
import os
import subprocess

import pytest

from apps.core.domain.errors import MemoryHubError
from apps.notes.domain.places import MAIN
from apps.notes.files.changes import note_append, note_edit, note_read
from apps.notes.files.versions import text_of
from apps.notes.models import ChangeKind, NoteVersion

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("killed")]
LINES = "a line of the person's own\n" * 2_000


def mount(*arguments):
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted here: {done.stderr.strip()}")


@pytest.fixture
def disk(notes_dir):
    """A file system of a megabyte, with the notes of all users."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small file system")
    notes_dir.mkdir(parents=True)
    mount("-t", "tmpfs", "-o", "size=1m,mode=0700", "none", str(notes_dir))
    yield notes_dir
    subprocess.run(["umount", "--lazy", str(notes_dir)], check=True)


@pytest.fixture
def main(disk):
    """The path of ana's MEMORY.md, with more than a block of text."""
    note_append("ana", MAIN, "tea", author="test")
    file = disk / "users" / "ana" / "MEMORY.md"
    file.write_text(LINES + "- tea\n")
    note_read("ana", MAIN)
    return file


@contextlib.contextmanager
def full(disk):
    """Leave no room on the disk while the block runs."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    yield
    filler.unlink()


def refused(call):
    with pytest.raises(MemoryHubError) as error:
        call()
    return error.value.code


def append(entry):
    note_append("ana", MAIN, entry, author="test", operation=entry)


def test_append_to_a_full_disk_is_refused_and_done_once_afterwards(disk, main):
    before = main.read_bytes()
    with full(disk):
        for _ in range(2):
            assert refused(lambda: append("rice")) == "disk_full"
        assert main.read_bytes() == before
        assert note_read("ana", MAIN).text == before
    append("rice")
    append("rice")
    assert main.read_bytes() == before + b"- rice\n"
    assert not list(main.parent.glob(".*.new"))


def test_edit_on_a_full_disk_is_refused_and_kept(disk, main):
    before = note_read("ana", MAIN)
    with full(disk):
        wanted = "mine\n" + LINES
        assert refused(lambda: note_edit("ana", MAIN, wanted, base=before.sha256, author="test")) == "disk_full"
        assert note_read("ana", MAIN).text == before.text
    kept = NoteVersion.objects.get(kind=ChangeKind.KEPT)
    assert text_of(kept) == wanted.encode()
    assert main.read_bytes() == before.text


def test_save_of_an_editor_on_a_full_disk_is_read_and_completed_afterwards(disk, main):
    """The editor had not seen the latest entry, which cannot be added again at first."""
    before = main.read_bytes()
    append("rice")
    with full(disk):
        main.write_bytes(before)
        for _ in range(2):
            assert note_read("ana", MAIN).text == before
    assert note_read("ana", MAIN).text == before + b"- rice\n"
    assert main.read_bytes() == before + b"- rice\n"


def test_disk_that_may_only_be_read_is_read(disk, main):
    before = main.read_bytes()
    append("rice")
    main.write_bytes(before)
    mount("-o", "remount,ro", str(disk))
    assert note_read("ana", MAIN).text == before
    assert refused(lambda: append("plums")) == "no_permission"
    mount("-o", "remount,rw", str(disk))
    append("plums")
    assert main.read_bytes() == before + b"- rice\n- plums\n"
