"""What a process knows of archived files: how it comes to a version of the catalogue, and what it finds in them."""

import errno
import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from apps.core.domain.errors import UnavailableError
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.store import file_cache as module
from apps.episodic.store.archived_segments import (
    ArchivedFileDamagedError,
    ListedSegment,
    catalogue_listing,
    catalogue_version,
)
from apps.episodic.store.file_cache import ArchiveCache, archive_cache
from tests.integration.episodic.records import NOW
from tests.integration.episodic.timeline import Timeline, draft, segments
from tests.threads import at_once

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def timeline() -> Timeline:
    return Timeline()


@pytest.fixture
def cache() -> ArchiveCache:
    """The cache of a process that has just started."""
    return ArchiveCache()


def archived(timeline: Timeline, *contents: str, **fields: Any) -> list[EventRecord]:
    """Record events, and have them archived in a segment of their own."""
    events = timeline.record(*[draft(content, **fields) for content in contents])
    timeline.archive()
    return events


def moments(events: Sequence[EventRecord]) -> dict[UUID, datetime]:
    return {event.identity: event.timestamp for event in events}


# --- versions -----------------------------------------------------------------------------------------


def test_a_new_process_has_no_version(timeline: Timeline, cache: ArchiveCache) -> None:
    assert cache.at(catalogue_version()) is None
    cache.refresh()
    assert cache.at(catalogue_version()) is not None


def test_it_has_one_version_only(timeline: Timeline, cache: ArchiveCache) -> None:
    archived(timeline, "one")
    cache.refresh()
    before = catalogue_version()
    archived(timeline, "two")
    assert cache.at(catalogue_version()) is None
    assert cache.at(before) is not None
    cache.refresh()
    assert cache.at(before) is None


def test_it_takes_up_new_files_and_leaves_those_that_ended(timeline: Timeline, cache: ArchiveCache) -> None:
    for content in ("one", "two"):
        archived(timeline, content)
    cache.refresh()
    timeline.merge()
    archived(timeline, "three")
    cache.refresh()
    view = cache.at(catalogue_version())
    assert view is not None
    assert view.index.segment_ids == {segment.pk for segment in segments(SegmentState.ARCHIVED)}
    assert view.index.event_count == 3


def test_reader_of_older_version_goes_on_undisturbed(timeline: Timeline, cache: ArchiveCache) -> None:
    archived(timeline, "one")
    cache.refresh()
    view = cache.at(catalogue_version())
    assert view is not None
    archived(timeline, "two")
    cache.refresh()
    assert view.index.event_count == 1
    [segment] = view.index.segment_ids
    assert [event.content for event in view.index.file(segment).events()] == ["one"]


def test_a_refresh_without_a_change_opens_nothing(
    timeline: Timeline, cache: ArchiveCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    archived(timeline, "one")
    cache.refresh()
    monkeypatch.setattr(module, "open_archived", lambda segment: pytest.fail("opened"))
    cache.refresh()


def test_file_of_another_state_of_segment_is_not_catalogues(
    timeline: Timeline, cache: ArchiveCache, timeline_dir: Path
) -> None:
    archived(timeline, "one")
    archived(timeline, "two", "three")
    one, other = segments(SegmentState.ARCHIVED)
    (timeline_dir / one.file_name).write_bytes((timeline_dir / other.file_name).read_bytes())
    cache.refresh()
    assert [segment.pk for segment in segments(SegmentState.QUARANTINED)] == [one.pk]
    view = cache.at(catalogue_version())
    assert view is not None
    assert view.index.event_count == 2


def test_damage_of_file_that_another_one_has_replaced_is_none(timeline: Timeline) -> None:
    archived(timeline, "one")
    [listed] = catalogue_listing().segments
    damage = SegmentDamagedError(Damage.MISSING, "There is no such file.")
    ArchivedFileDamagedError(listed._replace(sha256="an older one"), damage).report()
    assert segments(SegmentState.QUARANTINED) == []
    ArchivedFileDamagedError(listed, damage).report()
    assert len(segments(SegmentState.QUARANTINED)) == 1


@pytest.mark.django_db(transaction=True)
def test_threads_that_ask_at_once_load_each_file_once(timeline: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    for content in ("one", "two", "three"):
        archived(timeline, content)
    cache, original = ArchiveCache(), module.open_archived
    opened: list[ListedSegment] = []

    def counted(segment: ListedSegment) -> SegmentFile:
        opened.append(segment)
        return original(segment)

    monkeypatch.setattr(module, "open_archived", counted)
    at_once(*[cache.refresh for _ in range(6)])
    assert sorted(opened) == sorted(catalogue_listing().segments)


def test_system_refusing_to_open_files_is_no_damage(
    timeline: Timeline, cache: ArchiveCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = archived(timeline, "one")

    def too_many(*_: Any, **__: Any) -> SegmentFile:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), "/the/path")

    with monkeypatch.context() as patch:
        patch.setattr(SegmentFile, "open", too_many)
        with pytest.raises(UnavailableError, match="Too many open files") as refused:
            cache.refresh()
        assert "/the/path" not in refused.value.detail
    cache.refresh()
    monkeypatch.setattr(SegmentFile, "find", too_many)
    with pytest.raises(UnavailableError):
        cache.find(moments(events))
    assert segments(SegmentState.QUARANTINED) == []


def test_a_forked_process_has_an_empty_cache() -> None:
    mine = archive_cache()
    child = os.fork()
    if child == 0:
        os._exit(0 if archive_cache() is not mine else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# --- known events -------------------------------------------------------------------------------------


def test_archived_events_are_known(timeline: Timeline, cache: ArchiveCache) -> None:
    events = [*archived(timeline, "one", "two"), *archived(timeline, "three", timestamp=NOW - HOUR)]
    others = timeline.record(draft("four"))
    assert cache.find(moments([*events, *others])) == {event.identity: event for event in events}


def test_nothing_is_opened_for_events_at_times_of_which_no_file_has_any(
    timeline: Timeline, cache: ArchiveCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    archived(timeline, "one", timestamp=NOW - HOUR)
    archived(timeline, "two", timestamp=NOW - 3 * HOUR)
    monkeypatch.setattr(module, "open_archived", lambda segment: pytest.fail("opened"))
    new = [*timeline.record(draft("three")), *timeline.record(draft("four", timestamp=NOW - 2 * HOUR))]
    assert cache.find(moments(new)) == {}
    assert cache.find({}) == {}


def test_what_was_archived_a_moment_ago_is_known(timeline: Timeline, cache: ArchiveCache) -> None:
    archived(timeline, "one")
    cache.refresh()
    events = archived(timeline, "two")
    assert set(cache.find(moments(events))) == set(moments(events))


def test_damaged_file_is_noticed_while_looking_for_known_events(
    timeline: Timeline, cache: ArchiveCache, timeline_dir: Path
) -> None:
    gone, kept = archived(timeline, "one"), archived(timeline, "two")
    cache.refresh()
    (timeline_dir / segments(SegmentState.ARCHIVED)[0].file_name).unlink()
    with pytest.raises(ArchivedFileDamagedError) as found:
        cache.find(moments([*gone, *kept]))
    assert segments(SegmentState.QUARANTINED) == [], "the caller's transaction may still be undone"
    found.value.report()
    assert set(cache.find(moments([*gone, *kept]))) == set(moments(kept))
    assert len(segments(SegmentState.QUARANTINED)) == 1


def test_files_replaced_concurrently_are_read_again(
    timeline: Timeline, cache: ArchiveCache, timeline_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = [*archived(timeline, "one"), *archived(timeline, "two")]
    cache.refresh()
    original, merged = SegmentFile.find, list[bool]()

    def find(self: SegmentFile, identities: Sequence[UUID]) -> dict[UUID, EventRecord]:
        if not merged:
            merged.append(True)
            old = segments(SegmentState.ARCHIVED)
            timeline.merge()
            for segment in old:
                (timeline_dir / segment.file_name).unlink()
        return original(self, identities)

    monkeypatch.setattr(SegmentFile, "find", find)
    assert set(cache.find(moments(events))) == set(moments(events))
    assert segments(SegmentState.QUARANTINED) == []
