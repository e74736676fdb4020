"""A plain folder: what is listed, what has changed, and that no link leads out of it."""

import os
import shutil
from pathlib import Path

import pytest

from apps.core.domain.errors import NotFoundError
from apps.sync.domain.errors import CommitGoneError, KnowledgeUnavailableError
from apps.sync.repository.entries import FileEntry, FileUnreadableError, SourceReader
from apps.sync.repository.reader import open_reader
from tests.integration.sync.repository.repositories import files_at, source_of


@pytest.fixture
def folder(root: Path) -> Path:
    """Return a folder below the root with three files."""
    place = root / "handbook"
    (place / "adr").mkdir(parents=True)
    (place / "adr" / "0001.md").write_text("one")
    (place / "adr" / "0002.md").write_text("two")
    (place / "readme.txt").write_text("read me")
    return place


def blobs(reader: SourceReader, commit: str) -> dict[str, str]:
    """Return what a sync would store."""
    return {file.path: file.blob for file in reader.list(commit) if isinstance(file, FileEntry)}


def age(path: Path) -> None:
    """Let a file be old enough that its time can be relied upon."""
    os.utime(path, (1_600_000_000, 1_600_000_000))


def test_the_files_are_listed_and_read(folder: Path) -> None:
    (folder / "image.png").write_bytes(b"no")
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "a.md").write_text("no")
    with open_reader(source_of(folder, "folder")) as reader:
        commit = reader.head()
        assert files_at(reader, commit) == {"adr/0001.md": "ok", "adr/0002.md": "ok", "readme.txt": "ok"}
        assert reader.read_at("adr/0001.md", commit) == b"one"
        assert reader.log("adr/0001.md") == ()
    with open_reader(source_of(f"file://{folder}", "folder", folder="adr")) as reader:
        assert files_at(reader, reader.head()) == {"adr/0001.md": "ok", "adr/0002.md": "ok"}


def test_the_commit_is_of_names_and_contents_only(folder: Path, root: Path) -> None:
    shutil.copytree(folder, root / "copy")
    commits = []
    for place in (folder, root / "copy"):
        with open_reader(source_of(place, "folder")) as reader:
            commits.append(reader.head())
    assert commits[0] == commits[1]


def test_touched_is_what_differs_from_the_last_sync(folder: Path) -> None:
    source = source_of(folder, "folder")
    with open_reader(source) as reader:
        old = reader.head()
        stored = blobs(reader, old)
    (folder / "adr" / "0001.md").write_text("ONE")
    (folder / "adr" / "0002.md").rename(folder / "adr" / "0003.md")
    with open_reader(source) as reader:
        new = reader.head()
        touched = reader.touched(old, new, stored)
        assert touched.paths == {"adr/0001.md", "adr/0002.md", "adr/0003.md"}
        assert touched.entries["adr/0002.md"] is None
        with pytest.raises(CommitGoneError):
            reader.touched(old, new)
        with pytest.raises(NotFoundError):
            reader.read_at("adr/0001.md", old)


def test_a_change_of_the_same_size_and_time_is_seen(folder: Path) -> None:
    """As after a restore that keeps times: the time of the change of the inode tells."""
    path = folder / "readme.txt"
    age(path)
    source = source_of(folder, "folder")
    commits = []
    for text in ("read me", "read it"):
        path.write_text(text)
        age(path)
        with open_reader(source) as reader:
            commits.append(reader.head())
    assert commits[0] != commits[1]


def test_a_file_that_changes_while_it_is_read_is_refused(folder: Path) -> None:
    with open_reader(source_of(folder, "folder")) as reader:
        entry = next(file for file in reader.list(reader.head()) if file.path == "readme.txt")
        assert isinstance(entry, FileEntry)
        (folder / "readme.txt").write_text("changed")
        with pytest.raises(FileUnreadableError) as caught:
            reader.read(entry)
        assert caught.value.refused.code == "file_changed"
        (folder / "readme.txt").unlink()
        with pytest.raises(FileUnreadableError) as caught:
            reader.read(entry)
        assert caught.value.refused.code == "file_unreadable"


def test_links_and_pipes_are_not_read(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    (folder / "link.md").symlink_to(outside / "secret.md")
    (folder / "linked").symlink_to(outside)
    os.mkfifo(folder / "pipe.md")
    with open_reader(source_of(folder, "folder")) as reader:
        files = files_at(reader, reader.head())
        assert {path: files[path] for path in files if files[path] != "ok"} == {
            "link.md": "symlink",
            "linked": "symlink",
        }
        entry = next(file for file in reader.list(reader.head()) if file.path == "adr/0001.md")
        assert isinstance(entry, FileEntry)
        shutil.rmtree(folder / "adr")
        (outside / "0001.md").write_text("one")
        (folder / "adr").symlink_to(outside)
        with pytest.raises((FileUnreadableError, KnowledgeUnavailableError)):
            reader.read(entry)


def test_a_file_with_a_second_name_is_not_read(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "secret.md"
    outside.write_text("secret")
    (folder / "second.md").hardlink_to(outside)
    with open_reader(source_of(folder, "folder")) as reader:
        assert files_at(reader, reader.head())["second.md"] == "hard_link"
        with pytest.raises(KnowledgeUnavailableError):
            reader.read_at("second.md", reader.head())
        entry = next(file for file in reader.list(reader.head()) if file.path == "readme.txt")
        assert isinstance(entry, FileEntry)
        (folder / "readme.txt").unlink()
        (folder / "readme.txt").hardlink_to(outside)
        with pytest.raises(FileUnreadableError):
            reader.read(entry)


def test_name_added_to_a_known_file_is_seen(folder: Path, tmp_path: Path) -> None:
    age(folder / "readme.txt")
    source = source_of(folder, "folder")
    for is_linked in (False, True, False):
        with open_reader(source) as reader:
            assert files_at(reader, reader.head())["readme.txt"] == ("hard_link" if is_linked else "ok")
        if is_linked:
            (tmp_path / "backup").unlink()
        else:
            (tmp_path / "backup").hardlink_to(folder / "readme.txt")


def test_a_folder_that_is_gone_is_unavailable_and_not_empty(folder: Path, root: Path, tmp_path: Path) -> None:
    source = source_of(folder, "folder")
    with open_reader(source) as reader:
        reader.head()
    folder.rename(tmp_path / "elsewhere")
    for place in (folder, tmp_path / "elsewhere"):
        with open_reader(source_of(place, "folder")) as reader, pytest.raises(KnowledgeUnavailableError):
            reader.head()
    (root / "link").symlink_to(tmp_path / "elsewhere")
    with open_reader(source_of(root / "link", "folder")) as reader, pytest.raises(KnowledgeUnavailableError):
        reader.head()
    with open_reader(source_of(root, "folder", folder="gone")) as reader, pytest.raises(KnowledgeUnavailableError):
        reader.head()


def test_names_that_deceive_are_refused(folder: Path) -> None:
    for name in (b"a\nb.md", b"\xff.md", b"a\\b.md"):
        (Path(os.fsdecode(os.fsencode(folder) + b"/" + name))).write_text("x")
    with open_reader(source_of(folder, "folder")) as reader:
        codes = list(files_at(reader, reader.head()).values())
    assert sorted(codes) == ["ok"] * 3 + ["path_unsafe"] * 3
