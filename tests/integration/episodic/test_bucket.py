"""The timeline with its archived segments in a bucket: all that holds for a folder, and nothing of it stays here."""

import shutil
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings

from apps.core.domain.errors import UnavailableError
from apps.core.domain.scope import system_access
from apps.core.file_roots import ID_FILE, HostUnfitError, claim, forget_id, roots
from apps.core.health import files_ready
from apps.core.object_storage import bucket as storage
from apps.core.object_storage import cached
from apps.core.object_storage.bucket import BucketFolder
from apps.core.personal.registry import personal_stores
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.domain.window import EventQuery
from apps.episodic.maintenance.doctor import timeline_doctor
from apps.episodic.models import Segment
from apps.episodic.queries.query import events_query
from apps.episodic.store.file_cache import reset_archive_cache
from apps.episodic.store.files import DiskNearlyFullError, list_files, require_room
from apps.episodic.warnings import active_warnings
from memoryhub.backup.archive import ArchiveWriter
from memoryhub.backup.make import add_segments
from tests.buckets import Wire
from tests.buckets import bucket as bucket
from tests.buckets import bucketed_timeline as bucketed_timeline
from tests.buckets import store_port as store_port
from tests.buckets import wire as wire
from tests.integration.episodic.upkeep import (
    a_sealed_segment,
    an_archived_segment,
    clock_at,
    contents,
    expected,
    files,
    maintain,
    record,
    states,
)
from tests.integration.memoryhub.test_backups import PLAIN

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("bucketed_timeline")]
ACCESS = system_access("test")


def asked() -> set[str]:
    """Return the events that a query of this process finds."""
    return {event.content for event in events_query(access=ACCESS, query=EventQuery(top_k=100)).events}


def begin_anew() -> None:
    """Forget what this machine knows of the archive, as one that has just joined."""
    shutil.rmtree(django_settings.FILES_CACHE_DIR, ignore_errors=True)
    reset_archive_cache()


def test_events_are_answered_from_the_bucket(bucketed_timeline: BucketFolder, timeline_dir: Path) -> None:
    for start in (0, 6):
        an_archived_segment(range(start, start + 6))
    assert asked() == set(expected(range(12)))
    assert set(bucketed_timeline.names()) == set(
        Segment.objects.exclude(file_name="").values_list("file_name", flat=True)
    )
    assert [path for path in timeline_dir.rglob("*") if path.is_file()] == []
    assert maintain(days=1).failures == []
    assert contents() == expected(range(12))
    assert timeline_doctor(clock=clock_at(1)).findings == []


def test_another_machine_answers_the_same(bucketed_timeline: BucketFolder, tmp_path: Path, settings: Any) -> None:
    an_archived_segment(range(12))
    here = asked()
    settings.FILES_CACHE_DIR, settings.TIMELINE_DIR = tmp_path / "other" / "cache", tmp_path / "other" / "timeline"
    begin_anew()
    assert asked() == here == set(expected(range(12)))


def test_a_removed_file_leaves_the_cache_of_each_machine(bucketed_timeline: BucketFolder, tmp_path: Path) -> None:
    segment = an_archived_segment(range(6))
    an_archived_segment(range(6, 12))
    assert asked()
    cache = tmp_path / "files-cache" / "timeline"
    # As the erasure of another machine does, which has another cache.
    bucketed_timeline.remove(segment.file_name)
    Segment.objects.filter(pk=segment.pk).update(state=SegmentState.PRUNED)
    assert segment.file_name in {path.name for path in cache.iterdir()}
    an_archived_segment(range(12, 14))
    assert asked() == set(expected(range(6, 14)))
    assert segment.file_name not in {path.name for path in cache.iterdir()}


def test_nothing_of_a_forgotten_person_is_left(bucketed_timeline: BucketFolder, tmp_path: Path) -> None:
    an_archived_segment(range(12))
    assert asked()
    [store] = [store for store in personal_stores() if store.name == "events"]
    assert sum(store.forget("user-0")) == 4
    assert list(store.find("user-0")) == []
    assert asked() == {f"event {number}" for number in range(12) if number % 3}
    kept = b"".join(path.read_bytes() for path in (tmp_path / "files-cache").rglob("*") if path.is_file())
    named = {path.name for path in (tmp_path / "files-cache" / "timeline").iterdir()}
    assert kept
    assert named <= set(bucketed_timeline.names())


def test_a_file_that_is_missing_is_damaged_and_what_is_left_answers(bucketed_timeline: BucketFolder) -> None:
    gone = an_archived_segment(range(6))
    an_archived_segment(range(6, 12))
    bucketed_timeline.remove(gone.file_name)
    begin_anew()
    assert asked() == set(expected(range(6, 12)))
    gone.refresh_from_db()
    assert (gone.state, gone.damage) == (SegmentState.QUARANTINED, "missing: There is no such file.")


def test_a_damaged_file_is_set_aside_and_what_can_be_read_comes_back(bucketed_timeline: BucketFolder) -> None:
    segment = an_archived_segment(range(400))
    content = b"".join(bucketed_timeline.pieces(segment.file_name))
    storage.client().put_object(
        Bucket=bucketed_timeline.bucket,
        Key=bucketed_timeline.prefix + segment.file_name,
        Body=content[: len(content) * 2 // 3],
    )
    assert timeline_doctor(repair=True, clock=clock_at(1)).findings
    assert list_files().quarantined == (segment.file_name,)
    assert 0 < contents().total() < 400


@pytest.mark.parametrize("what", ["another id", "no id"])
def test_the_folder_of_another_hub_loses_nothing(bucketed_timeline: BucketFolder, what: str) -> None:
    claim(roots())
    an_archived_segment(range(6))
    [name] = files()
    own = bucketed_timeline.read_text(ID_FILE)
    assert own
    bucketed_timeline.move(name, "elsewhere")
    bucketed_timeline.remove(ID_FILE)
    if what == "another id":
        bucketed_timeline.write_text(ID_FILE, "another\n")
    begin_anew()
    with pytest.raises(UnavailableError) as caught:
        asked()
    assert caught.value.code == "files_elsewhere"
    assert "quarantined" not in states()
    assert "timeline" in str(files_ready())
    with pytest.raises(HostUnfitError, match=r"s3://.*the folder of the timeline"):
        claim(roots())

    bucketed_timeline.move("elsewhere", name)
    bucketed_timeline.write_text(ID_FILE, own)
    assert asked() == set(expected(range(6)))
    forget_id()


def test_a_file_that_is_gone_while_it_is_read_counts_where_the_bucket_is_that_of_the_hub(
    bucketed_timeline: BucketFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim(roots())
    monkeypatch.setattr(cached, "PART_BYTES", 4_096)
    an_archived_segment(range(400))
    begin_anew()
    assert asked()
    [name] = files()
    # A folder of the same name on another server: the tables are known here, the events are not.
    for part in (Path(django_settings.FILES_CACHE_DIR) / "timeline" / name).iterdir():
        if part.name != "0":
            part.unlink()
    bucketed_timeline.move(name, "elsewhere")
    bucketed_timeline.move(ID_FILE, "id")
    with pytest.raises(UnavailableError) as caught:
        asked()
    assert caught.value.code == "files_elsewhere"
    assert "quarantined" not in states()
    forget_id()


@pytest.mark.parametrize("how", ["away", "slow", "wrong bucket"])
def test_a_store_that_fails_is_said_and_loses_nothing(
    bucketed_timeline: BucketFolder, wire: Wire, how: str, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    an_archived_segment(range(6))
    record(range(6, 9))
    monkeypatch.setattr(storage, "READ_SECONDS", 0.5)
    storage.forget_client()
    assert asked() == set(expected(range(9)))
    url = settings.TIMELINE_URL
    if how == "away":
        wire.cut()
    elif how == "slow":
        wire.hold()
    else:
        settings.TIMELINE_URL = "s3://no-such-bucket/timeline"
    if how != "wrong bucket":
        assert asked() == set(expected(range(9))), "what this machine has read it still knows"
    begin_anew()
    with pytest.raises(UnavailableError) as caught:
        asked()
    assert caught.value.code == "timeline_unreadable"
    assert "the store of files" in caught.value.detail
    report = maintain(days=1)
    assert report.failures
    assert all("the store of files" in each for each in report.failures)
    assert {warning.kind for warning in active_warnings()} == {"maintenance_failed"}
    assert "quarantined" not in states()
    assert record([9]), "recording goes on"

    wire.mend()
    settings.TIMELINE_URL = url
    storage.forget_client()
    assert maintain(days=2).failures == []
    assert contents() == expected(range(10))
    assert asked() == set(expected(range(10)))
    assert not active_warnings().exists()


def test_room_is_needed_where_files_are_written(settings: Any) -> None:
    require_room()
    timeline = replace(settings.MEMORYHUB.timeline, min_free_mb=10**9)
    settings.MEMORYHUB = replace(settings.MEMORYHUB, timeline=timeline)
    with pytest.raises(DiskNearlyFullError):
        require_room()


def test_a_backup_has_the_files_of_the_bucket(bucketed_timeline: BucketFolder, tmp_path: Path) -> None:
    claim(roots())
    names = [an_archived_segment(range(6)).file_name, a_sealed_segment(range(6, 9)).file_name]
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        writer = ArchiveWriter(archive, replace(PLAIN, files={}))
        add_segments(writer)
        assert writer.manifest.damaged == []
        for name in names:
            assert archive.read(f"timeline/{name}") == b"".join(bucketed_timeline.pieces(name))
    assert set(writer.manifest.files) == {f"timeline/{name}" for name in (ID_FILE, *names)}
