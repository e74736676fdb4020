"""Archives of backups, and what is refused: by `tests/system/test_backup.py` whole hubs are made and restored."""

import errno
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings

from apps.core.file_roots import ID_FILE, claim, roots
from apps.episodic.selectors import segment_checksums
from apps.episodic.services import kept_files
from apps.notes.files.hidden import new_name
from apps.notes.selectors import notes_kept
from memoryhub.backup.archive import MANIFEST, ArchiveWriter, BackupError, Manifest, is_expected, whole_file
from memoryhub.backup.make import add_segments, path_for
from memoryhub.backup.restore import backup_check, backup_restore
from memoryhub.process.startup import RESTORING, StartError, hold_data_directory
from tests.integration.episodic.upkeep import an_archived_segment
from tests.segments import segment_path

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
PLAIN = Manifest("0.1.0", NOW.isoformat(), NOW.isoformat(), 0, False, True, [["core", "0001_initial"]])
FILES = {"timeline/a.segment": b"events", "prompts/memory/MEMORY.md": b"- tea\n", "secret_key": b"k" * 60}


@pytest.fixture
def target(tmp_path: Path, settings: Any) -> Path:
    """The data directory that a backup is restored into; it is not there yet."""
    settings.MEMORYHUB = replace(settings.MEMORYHUB, data_dir=tmp_path / "hub", database_url=None)
    return tmp_path / "hub"


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Path]:
    """Makes an archive of files, without a database."""

    def make_archive(files: dict[str, bytes] = FILES, **changes: Any) -> Path:
        path = tmp_path / f"backup-{len(list(tmp_path.iterdir()))}.zip"
        with whole_file(path) as (file, _), zipfile.ZipFile(file, "w") as archive:
            writer = ArchiveWriter(archive, replace(PLAIN, files={}, **changes))
            for name, content in files.items():
                writer.add(name, io.BytesIO(content))
            writer.finish()
        return path

    return make_archive


def contents(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def change(path: Path, do: Callable[[dict[str, Any]], None]) -> None:
    """Write an archive again with another manifest."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members[MANIFEST])
    do(manifest)
    members[MANIFEST] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@pytest.mark.django_db
def test_an_archive_is_restored_into_an_empty_directory(make: Callable[..., Path], target: Path) -> None:
    target.mkdir()
    assert backup_restore(make()).files.keys() == FILES.keys()
    assert contents(target) == FILES
    modes = {path.stat().st_mode & 0o777 for path in target.rglob("*")} | {target.stat().st_mode & 0o777}
    assert modes == {0o600, 0o700}


@pytest.mark.django_db
@pytest.mark.parametrize("is_mounted", [False, True])
def test_empty_folders_that_are_there_are_filled(
    make: Callable[..., Path], target: Path, monkeypatch: pytest.MonkeyPatch, is_mounted: bool
) -> None:
    path = make()
    (target / "timeline").mkdir(parents=True)
    (target / "lost+found").mkdir()
    rename = Path.rename

    def busy(self: Path, to: Path) -> Path:
        if to == target / "timeline":
            raise OSError(errno.EBUSY, "Device or resource busy")
        return rename(self, to)

    if is_mounted:
        monkeypatch.setattr(Path, "rename", busy)
    before = (target / "timeline").stat().st_ino
    backup_restore(path)
    assert contents(target) == FILES
    assert ((target / "timeline").stat().st_ino == before) is is_mounted
    assert (target / "lost+found").is_dir()


def test_an_archive_is_checked_without_a_trace(make: Callable[..., Path], target: Path) -> None:
    assert backup_check(make()).count("timeline") == 1
    assert not target.exists()


def test_a_directory_that_is_not_empty_is_refused(make: Callable[..., Path], target: Path) -> None:
    target.mkdir()
    (target / "secret_key").write_text("mine")
    with pytest.raises(BackupError, match=r"is not empty: it has secret_key\. A backup is restored into an empty"):
        backup_restore(make())
    assert contents(target) == {"secret_key": b"mine"}


def test_a_byte_that_differs_is_found_and_nothing_stays(make: Callable[..., Path], target: Path) -> None:
    path = make()
    path.write_bytes(path.read_bytes().replace(b"events", b"evenTs"))
    with pytest.raises(BackupError):
        backup_restore(path)
    assert list(target.iterdir()) == []


def test_a_checksum_that_differs_is_found(make: Callable[..., Path], target: Path) -> None:
    path = make()
    change(path, lambda manifest: manifest["files"]["secret_key"].__setitem__(1, "0" * 64))
    with pytest.raises(BackupError, match="secret_key in the backup is damaged"):
        backup_restore(path)
    assert list(target.iterdir()) == []


def test_half_an_archive_is_none(make: Callable[..., Path], target: Path) -> None:
    path = make()
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(BackupError, match="is no backup, or not a whole one"):
        backup_restore(path)


@pytest.mark.parametrize(
    ("do", "words"),
    [
        (lambda manifest: manifest.update(format=2), "has format 2; this MemoryHub reads 1"),
        (lambda manifest: manifest["migrations"].append(["core", "0999_of_tomorrow"]), "made by a newer MemoryHub"),
        (lambda manifest: manifest.update(has_database=True, server=990001), "is of PostgreSQL 99"),
        (lambda manifest: manifest["files"].pop("secret_key"), "has other files than its manifest says"),
        (lambda manifest: manifest.pop("hub"), "no manifest that can be read"),
    ],
)
def test_what_this_version_does_not_read_is_refused(
    do: Callable[[Any], None], words: str, make: Callable[..., Path], target: Path
) -> None:
    path = make()
    change(path, do)
    with pytest.raises(BackupError, match=words):
        backup_restore(path)
    assert not target.exists()


def test_a_database_is_not_put_into_a_server_of_the_operator(
    make: Callable[..., Path], target: Path, settings: Any
) -> None:
    settings.MEMORYHUB = replace(settings.MEMORYHUB, database_url="postgresql://db.example/hub")
    with pytest.raises(BackupError, match="DATABASE_URL names a server of your own"):
        backup_restore(make({"database.dump": b"PGDMP"}, has_database=True, server=180000))


@pytest.mark.parametrize(
    ("name", "is_good"),
    [
        ("timeline/a.segment", True),
        ("secret_key", True),
        ("prompts/memory/users/ana/MEMORY.md", True),
        ("timeline", False),
        ("postgres/pg_hba.conf", False),
        ("timeline/../secret_key", False),
        ("/etc/passwd", False),
        ("timeline//a", False),
        ("prompts\\memory", False),
    ],
)
def test_only_names_of_a_data_directory_are_restored(name: str, is_good: bool) -> None:
    assert is_expected(name) is is_good


def test_a_file_appears_whole_for_its_owner_and_replaces_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with whole_file(path) as (file, aside):
        file.write(b"whole")
        assert not path.exists()
        assert aside.stat().st_mode & 0o777 == 0o600
    assert (path.read_bytes(), [one.name for one in tmp_path.iterdir()]) == (b"whole", ["a.zip"])
    with pytest.raises(BackupError, match="exists already"), whole_file(path):
        pass
    assert path.read_bytes() == b"whole"


def test_what_a_killed_backup_left_is_removed_and_one_that_runs_stays(tmp_path: Path) -> None:
    (tmp_path / ".old.zip.0123abcd.part").write_bytes(b"half")
    with whole_file(tmp_path / "one.zip") as (first, _), whole_file(tmp_path / "two.zip"):
        first.write(b"1")
    assert {path.name for path in tmp_path.iterdir()} == {"one.zip", "two.zip"}


def test_where_a_backup_may_be_written(tmp_path: Path, target: Path) -> None:
    target.mkdir()
    assert path_for(tmp_path, NOW) == tmp_path / "memoryhub-20260304T050607Z.zip"
    assert path_for(tmp_path / "mine.zip", NOW) == tmp_path / "mine.zip"
    for path, words in (
        (target / "a.zip", "outside the data directory"),
        (tmp_path / "missing" / "a.zip", "is no folder"),
        (tmp_path / "a.tar", "ends with .zip"),
    ):
        with pytest.raises(BackupError, match=words):
            path_for(path, NOW)


@pytest.mark.django_db
def test_segments_are_copied_and_damaged_ones_named(timeline_dir: Path, notes_dir: Path, tmp_path: Path) -> None:
    claim(roots())
    good, bad, gone = (an_archived_segment(range(start, start + 5)).file_name for start in (0, 5, 10))
    segment_path(bad).write_bytes(b"something else")
    segment_path(gone).unlink()
    (timeline_dir / "half.segment.part").write_bytes(b"half")
    assert set(segment_checksums()) == {good, bad, gone}
    assert {name for name, _ in kept_files()} == {ID_FILE, good, bad}
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        writer = ArchiveWriter(archive, replace(PLAIN, files={}))
        add_segments(writer)
    assert writer.manifest.damaged == sorted([bad, gone])


@pytest.mark.django_db
def test_notes_are_kept_with_what_a_person_put_beside_them(notes_dir: Path, tmp_path: Path) -> None:
    claim(roots())
    elsewhere = tmp_path / "synchronised"
    elsewhere.mkdir()
    (elsewhere / "MEMORY.md").write_text("- rice\n")
    (notes_dir / "users" / "ben").symlink_to(elsewhere)
    (notes_dir / "users" / "ana" / "plans").mkdir(parents=True)
    (notes_dir / "users" / "ana" / "plans" / "garden.pdf").write_bytes(b"%PDF")
    (notes_dir / "users" / "ana" / new_name("MEMORY.md")).write_text("half")
    (notes_dir / "users" / "ana" / "link.md").symlink_to("/etc/hostname")
    kept = notes_kept()
    names = {name for name, _ in kept.files}
    assert names == {f"users/{ID_FILE}", "users/ben/MEMORY.md", "users/ana/plans/garden.pdf"}
    assert kept.left_out == 1


def test_a_hub_does_not_start_where_a_restore_was_cut_off(tmp_path: Path) -> None:
    (tmp_path / RESTORING).mkdir()
    with pytest.raises(StartError, match="was cut off"), hold_data_directory(tmp_path):
        pass


def test_the_manifest_says_what_is_where() -> None:
    manifest = replace(PLAIN, files={"timeline/.store-id": [33, ""], "timeline/a.segment": [7, ""]})
    assert (manifest.count("timeline"), manifest.size) == (1, 40)
    assert Manifest(**asdict(manifest)) == manifest
    assert django_settings.SPECTACULAR_SETTINGS["VERSION"]
