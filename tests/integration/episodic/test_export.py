"""Exporting the events of a scope: each once, in order, also while files change."""

import json
import stat
from collections.abc import Iterable
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from apps.core.domain.errors import InvalidInputError, UnavailableError
from apps.core.domain.scope import Access, Permission, Scope
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.lines import decode_line
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.domain.segment_state import RowsState, SegmentState
from apps.episodic.domain.window import EventQuery, Window
from apps.episodic.queries import export as queries_export
from apps.episodic.queries.export import events_count, events_export
from apps.episodic.store.file_cache import archive_cache, reset_archive_cache
from tests.integration.episodic.records import NOW
from tests.integration.episodic.timeline import SYSTEM, Timeline, draft, segments

pytestmark = pytest.mark.django_db

SCOPES = [
    Scope("ana"),
    Scope("ana", "home"),
    Scope("ana", "home", "chef"),
    Scope("ben", "home"),
    Scope("Zoë\U0001f600"),
]


@pytest.fixture
def timeline() -> Timeline:
    """Thirty events of five scopes: some of them merged, some archived, some leaving, some rows."""
    timeline = Timeline()
    for begin, steps in ((0, ["archive"]), (8, ["archive", "merge"]), (16, ["close", "seal", "flip"]), (24, [])):
        timeline.record(*[event(number) for number in range(begin, min(30, begin + 8))])
        for step in steps:
            getattr(timeline, step)()
    return timeline


def event(number: int) -> Any:
    kind = "message" if number % 2 else "visit"
    moment = NOW - timedelta(minutes=(number * 7) % 30)
    return draft(f"event {number}", timestamp=moment, scope=SCOPES[number % 5], event_type=kind)


def in_order(events: Iterable[EventRecord]) -> list[EventRecord]:
    return sorted(events, key=lambda event: event.archive_order)


def exported(access: Access = SYSTEM, **fields: Any) -> list[EventRecord]:
    return list(events_export(access, EventQuery(**fields)))


def test_every_event_is_exported_once_in_order_of_archives(timeline: Timeline) -> None:
    assert exported() == in_order(timeline.model)


@pytest.mark.parametrize("scope", [*SCOPES, Scope(household_id="home"), Scope(persona_id="chef"), Scope("unknown")])
def test_a_scope_is_exported_without_the_others(timeline: Timeline, scope: Scope) -> None:
    expected = in_order(event for event in timeline.model if event.key.is_in(scope))
    assert exported(scope=scope) == expected
    assert events_count(SYSTEM, EventQuery(scope)) == len(expected)


def test_a_window_and_types_narrow_an_export(timeline: Timeline) -> None:
    window = Window(NOW - timedelta(minutes=20), NOW - timedelta(minutes=3))
    fields: dict[str, Any] = {"start": window.start, "end": window.end, "event_types": ("visit",)}
    expected = [event for event in timeline.model if window.contains(event.timestamp) and event.event_type == "visit"]
    assert exported(**fields) == in_order(expected)
    assert events_count(SYSTEM, EventQuery(**fields)) == len(expected)


def test_nothing_outside_the_bound_is_exported(timeline: Timeline) -> None:
    ana = Access(Scope("ana"), Permission.READ, "key:ana")
    assert {event.key.user_id for event in exported(ana)} == {"ana"}
    assert exported(ana, scope=Scope("ben")) == []
    with pytest.raises(InvalidInputError):
        exported(ana, scope=Scope("ben"), start=NOW, last_days=1)


def test_rows_are_fetched_in_parts(timeline: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries_export, "ROWS_AT_ONCE", 2)
    assert exported() == in_order(timeline.model)


def test_an_empty_timeline_exports_nothing() -> None:
    assert exported() == []


@pytest.mark.parametrize("given", [1, 9, 20])
def test_export_continues_when_files_are_replaced(
    timeline: Timeline, timeline_dir: Path, given: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Any] = []
    original = queries_export.read_from

    def counted(wanted: Any, last: Any) -> Any:
        begun.append(last)
        return original(wanted, last)

    monkeypatch.setattr(queries_export, "read_from", counted)
    # A run at a time, so that there is something left to read.
    monkeypatch.setattr("apps.episodic.queries.export.BLOCK_LINES", 1)
    archive_cache().refresh()
    export = events_export(SYSTEM, EventQuery())
    before = list(islice(export, given))
    old = segments(SegmentState.ARCHIVED)
    timeline.archive()
    timeline.merge()
    for segment in old:
        (timeline_dir / segment.file_name).unlink(missing_ok=True)
    assert before + list(export) == in_order(timeline.model)
    assert segments(SegmentState.QUARANTINED) == []
    assert begun[0] is None
    assert begun[-1] >= before[-1].archive_order


@pytest.mark.django_db(transaction=True)
def test_export_holds_no_transaction_and_sees_one_moment(timeline: Timeline) -> None:
    export = events_export(SYSTEM, EventQuery())
    first = next(export)
    assert not connection.in_atomic_block
    expected = in_order(timeline.model)
    timeline.record(draft("later", scope=Scope("zoe")))
    timeline.archive()
    assert [first, *export] == expected


def test_export_lacks_only_events_of_damaged_files(timeline: Timeline, timeline_dir: Path) -> None:
    archive_cache().refresh()
    [damaged] = segments(SegmentState.ARCHIVED, rows=RowsState.GONE)
    lost = {event.uuid for event in SegmentFile.open(timeline_dir / damaged.file_name).events()}
    (timeline_dir / damaged.file_name).unlink()
    assert exported() == in_order(event for event in timeline.model if event.uuid not in lost)
    assert len(segments(SegmentState.QUARANTINED)) == 1


def test_process_that_has_just_started_loads_all_it_needs(timeline: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.episodic.store.file_cache.LOAD_IN_REQUEST", 0)
    reset_archive_cache()
    assert exported() == in_order(timeline.model)


def test_system_that_refuses_to_read_ends_export(timeline: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> list[EventRecord]:
        raise PermissionError(13, "Permission denied")

    archive_cache().refresh()
    monkeypatch.setattr(SegmentFile, "read_runs", refuse)
    with pytest.raises(UnavailableError):
        exported()


# --- the command --------------------------------------------------------------------------------------


def test_the_command_writes_what_segments_hold(timeline: Timeline, tmp_path: Path, capsys: Any) -> None:
    target = tmp_path / "events.ndjson"
    call_command("timeline", "export", str(target), "--user-id", "ana", "--household-id", "home")
    expected = in_order(event for event in timeline.model if event.key.is_in(Scope("ana", "home")))
    lines = target.read_bytes().splitlines()
    assert [decode_line(line) for line in lines] == expected
    assert json.loads(lines[0])["content"] == expected[0].content
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert f"{len(expected)} events written" in capsys.readouterr().out


def test_the_command_takes_a_window_and_types(timeline: Timeline, tmp_path: Path) -> None:
    target = tmp_path / "events.ndjson"
    window = Window(NOW - timedelta(minutes=20), NOW - timedelta(minutes=3))
    arguments = [f"--from={(NOW - timedelta(minutes=20)).isoformat()}", f"--to={window.end}", "--event-type=visit"]
    call_command("timeline", "export", str(target), *arguments)
    expected = [event for event in timeline.model if window.contains(event.timestamp) and event.event_type == "visit"]
    assert [decode_line(line) for line in target.read_bytes().splitlines()] == in_order(expected)


def test_a_file_that_is_there_is_not_overwritten(timeline: Timeline, tmp_path: Path) -> None:
    target = tmp_path / "events.ndjson"
    target.write_text("mine")
    with pytest.raises(CommandError, match="File exists"):
        call_command("timeline", "export", str(target))
    assert target.read_text() == "mine"


def test_an_incomplete_export_is_said_to_be_one(timeline: Timeline, tmp_path: Path, timeline_dir: Path) -> None:
    (timeline_dir / segments(SegmentState.ARCHIVED, rows=RowsState.GONE)[0].file_name).unlink()
    with pytest.raises(CommandError, match="1 damaged segment could not be read"):
        call_command("timeline", "export", str(tmp_path / "events.ndjson"))
    assert (tmp_path / "events.ndjson").stat().st_size > 0


def test_an_export_that_failed_leaves_no_file(
    timeline: Timeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(event: EventRecord) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("apps.episodic.management.commands.timeline.encode_line", full)
    with pytest.raises(CommandError, match="No space left"):
        call_command("timeline", "export", str(tmp_path / "events.ndjson"))
    assert not (tmp_path / "events.ndjson").exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--from", "2026-03-01T00:00:00"], "ISO 8601 with an offset"),
        (["--from", "soon"], "ISO 8601 with an offset"),
        (["--from", "2026-03-02T00:00:00Z", "--to", "2026-03-01T00:00:00Z"], "is after"),
    ],
)
def test_a_window_that_is_none_is_refused(tmp_path: Path, arguments: list[str], reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        call_command("timeline", "export", str(tmp_path / "events.ndjson"), *arguments)
    assert list(tmp_path.iterdir()) in ([], [tmp_path / "timeline"])
