"""Files that belong to rows, on this machine and in a bucket: a real server of S3's protocol answers."""

import errno
import hashlib
import io
import os
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from apps.core.domain.errors import UnavailableError
from apps.core.file_roots import expect
from apps.core.object_storage.bucket import BucketFolder
from apps.core.row_files import RowFiles
from apps.people.models import Download
from tests.buckets import Wire
from tests.buckets import bucket as bucket
from tests.buckets import bucketed_timeline as bucketed_timeline
from tests.buckets import store_port as store_port
from tests.buckets import wire as wire

pytestmark = pytest.mark.django_db
FILES = RowFiles("DOWNLOADS", Download, ".zip")
PART = ".zip.part"


@pytest.fixture
def bucketed_downloads(bucketed_timeline: BucketFolder, settings: Any) -> BucketFolder:
    """Where whole files are, in the bucket of this process."""
    settings.DOWNLOADS_URL = str(bucketed_timeline).replace("timeline", "downloads")
    return BucketFolder.at(settings.DOWNLOADS_URL)


@pytest.fixture(params=["here", "bucket"])
def place(request: pytest.FixtureRequest) -> str:
    if request.param == "bucket":
        request.getfixturevalue("bucketed_downloads")
    return str(request.param)


def written(content: bytes = b"all of it", uuid: UUID | None = None) -> UUID:
    """A file that was written on this machine and is kept."""
    uuid = uuid or Download.objects.create(user_id=f"user {uuid4()}", requested_at="2026-03-04T00:00Z").uuid
    FILES.prepare()
    FILES.file(uuid, PART).write_bytes(content)
    FILES.keep(uuid, PART)
    return uuid


def test_kept_file_is_read_on_every_host_until_it_is_removed(place: str, settings: Any, tmp_path: Path) -> None:
    uuid = written()
    if place == "bucket":
        settings.DOWNLOADS_DIR = tmp_path / "of another host"
    assert FILES.is_there(uuid)
    assert b"".join(FILES.pieces(uuid)) == b"all of it"
    read = []
    for _ in range(2):
        with FILES.fetched(uuid) as path:
            read.append((path.read_bytes(), path.stat().st_mtime))
    assert read[0] == read[1]
    assert place == "here" or list(FILES.directory.iterdir()) == []
    FILES.remove(uuid)
    assert not FILES.is_there(uuid)
    with pytest.raises(FileNotFoundError):
        list(FILES.pieces(uuid))
    FILES.remove(uuid)


def test_nothing_of_kept_file_stays_under_name_it_was_written_under(place: str) -> None:
    uuid = written()
    left = [] if place == "bucket" else [f"{uuid}.zip"]
    assert [path.name for path in FILES.directory.iterdir()] == left


def test_what_killed_process_had_kept_gives_way(place: str) -> None:
    uuid = written(b"of the process that was killed")
    written(b"of the next one", uuid)
    assert b"".join(FILES.pieces(uuid)) == b"of the next one"


@pytest.mark.usefixtures("place")
def test_file_that_was_removed_while_it_was_written_is_not_kept() -> None:
    FILES.prepare()
    with pytest.raises(FileNotFoundError):
        FILES.keep(uuid4(), PART)


@pytest.mark.usefixtures("place")
def test_files_of_no_row_are_strays() -> None:
    kept, gone = written(), written()
    Download.objects.filter(uuid=gone).delete()
    (FILES.directory / "c0ffee.zip.part").write_bytes(b"x")
    assert set(FILES.strays()) == {f"{gone}.zip", "c0ffee.zip.part"}
    FILES.remove_strays()
    assert FILES.strays() == []
    assert FILES.is_there(kept)
    assert not FILES.is_there(gone)


@pytest.mark.usefixtures("bucketed_downloads")
def test_store_that_does_not_answer_is_said(
    bucketed_timeline: BucketFolder, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    uuid = written()
    monkeypatch.setattr("apps.core.object_storage.bucket.CONNECT_SECONDS", 0.5)
    # As in a hub, which asks whose bucket it is.
    bucketed_timeline.write_text(".store-id", "this hub\n")
    expect("this hub")
    wire.cut()
    for call in (FILES.is_there, FILES.remove, lambda one: list(FILES.pieces(one)), lambda _: FILES.remove_strays()):
        with pytest.raises(UnavailableError) as refused:
            call(uuid)
        assert refused.value.code == "files_unreachable"
    wire.mend()
    assert b"".join(FILES.pieces(uuid)) == b"all of it"


@pytest.mark.usefixtures("bucketed_downloads")
def test_machine_without_room_for_a_copy_says_so_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    uuid = written()

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "utime", full)
    with pytest.raises(UnavailableError, match="No space left"), FILES.fetched(uuid):
        pass
    assert list(FILES.directory.iterdir()) == []
    assert FILES.is_there(uuid)


@pytest.mark.usefixtures("bucketed_downloads")
def test_copy_that_is_removed_while_it_is_read_is_no_error() -> None:
    uuid = written()
    with FILES.fetched(uuid) as path, path.open("rb") as copy:
        FILES.remove(uuid)
        assert copy.read() == b"all of it"


@pytest.mark.usefixtures("bucketed_downloads")
def test_copy_of_killed_process_goes_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    uuid = written()
    left = FILES.directory / f"{uuid}.left.copy"
    left.write_bytes(b"x")
    FILES.remove_strays()
    assert left.exists()
    monkeypatch.setattr("apps.core.row_files.LEFT_SECONDS", 0)
    FILES.remove_strays()
    assert not left.exists()
    assert FILES.is_there(uuid)


def test_nothing_is_removed_from_bucket_of_another_hub(
    bucketed_timeline: BucketFolder, bucketed_downloads: BucketFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucketed_downloads.put_new(f"{uuid4()}.zip", io.BytesIO(b"theirs"), hashlib.sha256(b"theirs").hexdigest())
    bucketed_timeline.write_text(".store-id", "another hub\n")
    monkeypatch.setattr("apps.core.file_roots.store_id", lambda: "this hub")
    with pytest.raises(UnavailableError) as refused:
        FILES.remove_strays()
    assert refused.value.code == "files_elsewhere"
    assert len(bucketed_downloads.names()) == 1
