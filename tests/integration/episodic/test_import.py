"""Importing events: each line alone, each event once, in groups."""

import json
from datetime import datetime
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.core.domain.scope import Permission, Scope
from apps.core.schemas.bodies import MAX_LINES, lines_limit
from apps.episodic.imports import importer
from apps.episodic.imports.importer import MAX_PROBLEMS, EventImport, events_import
from apps.episodic.models import TimelineEvent
from apps.episodic.retention.purge import events_purge
from tests.api import Api, Lines, api_for
from tests.integration.episodic.timeline import SYSTEM, Timeline, draft

pytestmark = pytest.mark.django_db

IMPORT = "/api/episodic/events/import"


def event(number: int = 0, **fields: Any) -> dict[str, Any]:
    moment = f"2026-01-{number // 24 % 28 + 1:02}T{number % 24:02}:00:00+01:00"
    return {"timestamp": moment, "event_type": "visit", "content": f"visit {number}", "user_id": "ana", **fields}


def imported(*lines: Any, **options: Any) -> EventImport:
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    return events_import(access=SYSTEM, stream=BytesIO(text.encode()), **options)


def counts(report: EventImport) -> tuple[int, int, int]:
    return report.recorded, report.duplicates, report.failed


@pytest.fixture
def ana() -> Api:
    return api_for(Scope("ana"))


def test_events_are_recorded_once_and_duplicates_counted() -> None:
    Timeline().record(draft("visit 0", timestamp=datetime.fromisoformat(event(0)["timestamp"]), event_type="visit"))

    assert counts(imported(event(0), event(1), event(1), event(2))) == (2, 2, 0)
    assert counts(imported(event(0), event(1), event(2))) == (0, 3, 0)
    assert TimelineEvent.objects.count() == 3


def test_groups_are_of_their_own_and_progress_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "GROUP_LINES", 4)
    done: list[int] = []

    assert counts(imported(*map(event, range(10)), progress=done.append)) == (10, 0, 0)
    assert done == [4, 4, 2]


def test_export_is_imported_with_offsets(tmp_path: Path) -> None:
    imported(*map(event, range(3)))
    path = tmp_path / "events.ndjson"
    call_command("timeline", "export", str(path))
    events_purge(access=SYSTEM, scope=Scope("ana"))
    out = StringIO()

    call_command("import_events", str(path), stdout=out, stderr=StringIO())

    assert out.getvalue() == "3 recorded, 0 duplicates, 0 failed\n"
    said = sorted(row.timestamp.isoformat() for row in TimelineEvent.objects.all())
    assert said == [event(number)["timestamp"] for number in range(3)]


def test_command_names_bad_lines_and_records_the_others(tmp_path: Path) -> None:
    path, out, errors = tmp_path / "events.ndjson", StringIO(), StringIO()
    path.write_text(f"{json.dumps(event(0))}\n{json.dumps(event(1, importance=2))}\n{{\n")

    with pytest.raises(CommandError, match=r"^2 of 3 could not be imported\.$"):
        call_command("import_events", str(path), stdout=out, stderr=errors)

    assert out.getvalue() == "1 recorded, 0 duplicates, 2 failed\n"
    assert "Importing: 3/3" in errors.getvalue()
    assert "line 2: importance: Ensure this value is less than or equal to 1." in errors.getvalue()
    assert "line 3: line: JSON parse error" in errors.getvalue()


def test_command_refuses_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        call_command("import_events", str(tmp_path / "nothing"))


def test_api_answers_with_counts_and_the_bad_lines(ana: Api) -> None:
    answer = ana.post(IMPORT, Lines([event(0), event(0), event(1, event_type="a visit"), event(2, user_id="ben")]))

    assert answer.status_code == 200
    body = answer.json()
    assert {name: body[name] for name in ("lines", "recorded", "duplicates", "failed")} == {
        "lines": 4, "recorded": 1, "duplicates": 1, "failed": 2,
    }  # fmt: skip
    assert [(one["line"], one["attr"], one["code"]) for one in body["errors"]] == [
        (3, "event_type", "invalid"),
        (4, "user_id", "permission_denied"),
    ]


def test_key_of_a_household_records_within_it_only() -> None:
    home = api_for(Scope(household_id="home"))

    assert home.post(IMPORT, Lines([event(0), event(1, household_id="away")])).json()["failed"] == 1
    assert [row.household_id for row in TimelineEvent.objects.all()] == ["home"]


def test_key_that_may_only_read_imports_nothing() -> None:
    reader = api_for(Scope("ana"), Permission.READ)

    assert reader.post(IMPORT, Lines([event(0)])).status_code == 403
    assert not TimelineEvent.objects.exists()


def test_problems_are_counted_beyond_those_that_are_listed(ana: Api) -> None:
    body = ana.post(IMPORT, Lines([1] * (MAX_PROBLEMS + 5))).json()

    assert (body["failed"], len(body["errors"])) == (MAX_PROBLEMS + 5, MAX_PROBLEMS)


def test_body_of_another_kind_is_refused_and_none_has_no_lines(ana: Api) -> None:
    assert ana.post(IMPORT, event(0)).status_code == 415
    empty = ana.post(IMPORT, Lines())
    assert (empty.status_code, empty.json()["lines"]) == (200, 0)
    assert ana.client.get(IMPORT, headers={"Authorization": f"Bearer {ana.key}"}).status_code in {404, 405}


@pytest.mark.parametrize("body", [b"\n" * (MAX_LINES + 1), b" " * (lines_limit().size + 1)], ids=["lines", "bytes"])
def test_too_large_body_is_refused_before_anything_is_recorded(ana: Api, body: bytes) -> None:
    line = json.dumps(event(0)).encode() + b"\n"
    headers = {"Authorization": f"Bearer {ana.key}"}
    answer = ana.client.generic("POST", IMPORT, line + body, content_type="application/x-ndjson", headers=headers)

    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (413, "too_large")
    assert not TimelineEvent.objects.exists()
