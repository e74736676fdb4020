"""The state of the timeline over REST, and who may know how much of it."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import UnavailableError
from apps.core.domain.scope import Access, Permission, Scope
from apps.episodic import selectors
from apps.episodic.domain.alarms import HINTS, Severity, WarningKind
from apps.episodic.domain.event import EventDraft
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.maintenance.archive import rows_drop, segment_archive
from apps.episodic.maintenance.seal import segment_seal
from apps.episodic.models import Segment
from apps.episodic.recording.record import events_record
from apps.episodic.recording.rows import segment_close
from apps.episodic.warnings import warning_report
from tests.api import Api, api_for, error_attrs

pytestmark = pytest.mark.django_db

STATUS, SEGMENTS = "/api/episodic/status", "/api/episodic/segments"
NOW = utcnow(SYSTEM_CLOCK)
BOUNDS = [Scope(user_id="ana"), Scope(household_id="home"), Scope(persona_id="chef")]


@pytest.fixture
def operator() -> Api:
    return api_for(Scope(), Permission.OPERATOR)


def fill(access: Access, count: int, user: str = "ana") -> None:
    scope = Scope(user, "home", "chef")
    drafts = [EventDraft(NOW - timedelta(hours=hour), "message", f"event {hour}", scope) for hour in range(count)]
    events_record(access=access, drafts=drafts)


def archive_open_segment() -> Segment:
    segment = Segment.objects.get(state=SegmentState.OPEN)
    segment_close(segment_id=segment.pk)
    segment.refresh_from_db()
    segment_seal(segment, clock=SYSTEM_CLOCK)
    segment_archive(segment, clock=SYSTEM_CLOCK)
    rows_drop(segment)
    return segment


# --- status -------------------------------------------------------------------------------------------


def test_a_new_hub_is_ready_and_empty(operator: Api) -> None:
    answer = operator.get(STATUS)
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ready",
        "detail": None,
        "healthy": True,
        "events": {"total": 0, "hot": 0, "archived": 0, "unreadable": 0},
        "segments": {state.value: 0 for state in SegmentState},
        "archive_bytes": 0,
        "warnings": [],
    }


def test_operator_sees_what_is_where_and_what_is_wrong(operator: Api, access: Access) -> None:
    fill(access, 5)
    archived = archive_open_segment()
    fill(access, 7, "ben")
    warning_report(kind=WarningKind.SEGMENT_DAMAGED, severity=Severity.WARNING, detail="torn", segment=archived)
    body = operator.get(STATUS).json()
    assert body["events"] == {"total": 12, "hot": 7, "archived": 5, "unreadable": 0}
    assert (body["segments"]["open"], body["segments"]["archived"]) == (1, 1)
    assert body["archive_bytes"] == archived.size_bytes > 0
    assert body["healthy"] is False
    [warning] = body["warnings"]
    assert warning.pop("began_at") == warning.pop("last_seen_at")
    assert warning == {
        "kind": "segment_damaged",
        "severity": "warning",
        "detail": "torn",
        "hint": HINTS[WarningKind.SEGMENT_DAMAGED],
        "segment_id": str(archived.uuid),
    }


@pytest.mark.parametrize("bound", BOUNDS)
def test_key_with_bound_counts_its_own_events_and_nothing_else(access: Access, bound: Scope) -> None:
    api = api_for(bound)
    fill(access, 5)
    archive_open_segment()
    before = api.get(STATUS)
    assert before.json() == {
        "status": "ready",
        "detail": None,
        "healthy": True,
        "events": {"total": 5, "hot": None, "archived": None, "unreadable": None},
        "segments": None,
        "archive_bytes": None,
        "warnings": None,
    }
    events_record(access=access, drafts=[EventDraft(NOW, "message", "secret", Scope("cem", "hotel", "pilot"))])
    archive_open_segment()
    assert api.get(STATUS).content == before.content


def test_a_notice_suspends_nothing(operator: Api) -> None:
    warning_report(kind=WarningKind.CAPACITY, severity=Severity.NOTICE, detail="many")
    body = operator.get(STATUS).json()
    assert (body["healthy"], len(body["warnings"])) == (True, 1)


def test_while_files_are_loaded_it_says_so_and_when_to_ask_again(
    operator: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    detail = "The timeline is loading segment 3 of 20."
    monkeypatch.setattr(selectors, "timeline_ready", lambda: detail)
    answer = operator.get(STATUS)
    assert (answer.status_code, answer["Retry-After"]) == (503, "2")
    assert (answer.json()["status"], answer.json()["detail"]) == ("not_ready", detail)
    bound = api_for(Scope("ana")).get(STATUS)
    assert bound.status_code == 503
    assert "20" not in bound.json()["detail"]
    assert bound.json()["events"]["total"] is None


def test_files_that_begin_to_load_in_between_are_being_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise UnavailableError("not yet")

    monkeypatch.setattr(selectors, "events_query", refuse)
    answer = api_for(Scope("ana")).get(STATUS)
    assert (answer.status_code, answer.json()["status"]) == (503, "not_ready")


def test_without_a_database_the_answer_says_so(operator: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Access) -> None:
        raise OperationalError("secret address")

    monkeypatch.setattr(selectors, "timeline_status", fail)
    answer = operator.get(STATUS)
    assert answer.status_code == 503
    assert answer.json()["detail"] == "The database does not answer (OperationalError)."
    assert answer.json()["healthy"] is False


# --- segments -----------------------------------------------------------------------------------------


def test_segments_are_listed_the_newest_first(operator: Api, access: Access) -> None:
    fill(access, 5)
    archived = archive_open_segment()
    fill(access, 3, "ben")
    opened, sealed = operator.get(SEGMENTS).json()["results"]
    assert (opened["state"], opened["event_count"], opened["sha256"], opened["file_name"]) == ("open", 3, None, None)
    assert sealed["id"] == str(archived.uuid)
    assert (sealed["state"], sealed["rows"], sealed["event_count"]) == ("archived", "gone", 5)
    assert (sealed["sha256"], sealed["size_bytes"]) == (archived.sha256, archived.size_bytes)
    assert sealed["file_name"] == archived.file_name
    assert sealed["first_timestamp"] < sealed["last_timestamp"]
    assert (sealed["damage"], sealed["lost_count"], sealed["replaced_by"]) == (None, 0, None)


def test_segments_are_filtered_by_state_and_listed_page_by_page(operator: Api) -> None:
    old = [Segment.objects.create(state=SegmentState.PRUNED, opened_at=NOW, event_count=n) for n in range(5)]
    Segment.objects.create(state=SegmentState.OPEN, opened_at=NOW)
    assert [row["state"] for row in operator.get(f"{SEGMENTS}?state=open").json()["results"]] == ["open"]
    address, seen = f"{SEGMENTS}?state=pruned&limit=2", []
    while address:
        page = operator.get(address).json()
        assert len(page["results"]) <= 2
        seen += [row["id"] for row in page["results"]]
        address = page["next"]
    assert seen == [str(segment.uuid) for segment in reversed(old)]


def test_a_sealing_segment_without_rows_has_none(operator: Api) -> None:
    Segment.objects.create(state=SegmentState.SEALING, opened_at=NOW, event_count=9)
    assert operator.get(SEGMENTS).json()["results"][0]["event_count"] == 0


def test_replaced_segment_names_one_that_holds_its_events(operator: Api) -> None:
    new = Segment.objects.create(state=SegmentState.SEALING, opened_at=NOW)
    Segment.objects.create(state=SegmentState.COMPACTED, opened_at=NOW, replaced_by=new)
    shown = operator.get(f"{SEGMENTS}?state=compacted").json()["results"]
    assert [row["replaced_by"] for row in shown] == [str(new.uuid)]


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_key_with_a_bound_sees_no_segments(access: Access, bound: Scope) -> None:
    fill(access, 5)
    answer = api_for(bound).get(SEGMENTS)
    assert answer.status_code == 403
    assert answer.json()["errors"][0]["code"] == "permission_denied"
    assert answer.content == api_for(Scope("unknown")).get(f"{SEGMENTS}?state=open").content


def test_trusted_key_without_bound_sees_segments() -> None:
    assert api_for(Scope(), Permission.READ).get(SEGMENTS).status_code == 200


@pytest.mark.parametrize(
    ("query", "attr"),
    [
        ("state=odd", "state"),
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("cursor=7", "cursor"),
        ("page=2", "page"),
        ("limit=1&limit=2", "limit"),
    ],
)
def test_bad_query_string_is_refused_with_its_parameter_named(operator: Api, query: str, attr: str) -> None:
    answer = operator.get(f"{SEGMENTS}?{query}")
    assert answer.status_code == 400
    assert error_attrs(answer) == [attr]


def test_cursor_that_names_no_segment_is_not_found(operator: Api) -> None:
    answer = operator.get(f"{SEGMENTS}?cursor=older-00000000-0000-4000-8000-000000000000")
    assert answer.status_code == 404
    assert error_attrs(answer) == ["cursor"]
