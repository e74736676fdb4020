"""`manage.py doctor`: what is broken is found, said with its remedy, and left as it is."""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client, override_settings
from django.urls import reverse
from django_q.models import Schedule

from apps.accounts.services import account_create
from apps.core.domain.scope import Scope, system_access
from apps.core.file_roots import ID_FILE, claim, roots
from apps.core.models import HubProcess
from apps.episodic.models import Segment
from apps.episodic.services import FindingKind
from apps.events.models import Delivery
from apps.events.services import schedules_ensure
from apps.llm.models import EmbeddingSpace
from apps.monitor.domain.examinations import Examination, Verdict
from apps.monitor.domain.problems import Problem
from apps.monitor.services import examine
from apps.notes.files import examine as notes_examination
from apps.notes.models import NoteVersion
from apps.notes.services import main_append
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Memory, MemoryEmbedding, MemoryShard
from apps.semantic.services import memory_save
from memoryhub.config.shared import settings_facts
from memoryhub.doctor import database
from memoryhub.doctor.table import EXAMINATIONS
from memoryhub.schedules import SCHEDULES
from tests.integration.core.processes import beside
from tests.integration.episodic.upkeep import an_archived_segment
from tests.segments import segment_path

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[3]
SYSTEM = system_access("test")
SECRET = "the walrus keeps the spare key"


@pytest.fixture(autouse=True)
def hub(timeline_dir: Path, notes_dir: Path) -> None:
    """A hub that was prepared, and is sound."""
    claim(roots())
    schedules_ensure(specs=SCHEDULES)


def doctor(*options: str) -> tuple[int, dict[str, Any]]:
    """Run the command; return its exit code and its report."""
    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", "--json", *options, stdout=out)
    report = json.loads(out.getvalue())
    assert report["exit_code"] == int(ended.value.code or 0)
    return int(ended.value.code or 0), report


def findings(*options: str) -> dict[str, str]:
    """Return the severity of each finding by its code."""
    report = doctor(*options)[1]
    found = [finding for one in report["examinations"] for finding in one["findings"]]
    for finding in found:
        assert finding["sentence"].endswith(".")
        assert finding["remedy"].endswith((".", "repair`."))
    assert SECRET not in json.dumps(report)
    return {finding["code"]: finding["severity"] for finding in found}


def remember(content: str = SECRET) -> Memory:
    return memory_save(access=SYSTEM, draft=MemoryDraft(content, scope=Scope(user_id="ana"))).memory


@pytest.fixture
def note(notes_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A note of ana's that counts as settled; return its path."""
    main_append(access=SYSTEM, user_id="ana", entry=SECRET)
    monkeypatch.setattr(notes_examination, "SETTLED_SECONDS", -1.0)
    return notes_dir / "users" / "ana" / "MEMORY.md"


def test_a_sound_hub_has_no_findings(note: Path) -> None:
    remember()
    an_archived_segment(range(5))
    Delivery.objects.all().delete()  # of events of another time
    beside("worker")
    assert findings("--files") == {}
    code, report = doctor()
    assert (code, report["verdict"]) == (0, "sound")
    assert [one["name"] for one in report["examinations"]] == [one.name for one in EXAMINATIONS]


def test_a_hub_that_does_not_run_is_no_fault() -> None:
    assert (findings(), doctor()[0]) == ({"hub_stopped": "notice"}, 0)


def test_a_host_that_went_silent_is_a_finding() -> None:
    beside("worker")
    beside("web", host="there", age=75)
    assert findings() == {"host_gone": "warning"}


def test_every_problem_of_now_belongs_to_an_examination(settings: Any) -> None:
    sources = {
        f"{source.__module__}.{source.__qualname__}"
        for one in EXAMINATIONS
        for source in one.sources
        if not isinstance(source, partial)
    }
    # Those that the doctor asks through a function of its own.
    within = {
        "memoryhub.problems.processes.process_problems": "memoryhub.doctor.work.process_findings",
        "memoryhub.problems.processes.disk_problems": "memoryhub.doctor.database.disk_findings",
        "memoryhub.problems.jobs.schedule_problems": "memoryhub.doctor.work.schedule_findings",
        "memoryhub.problems.jobs.delivery_problems": "memoryhub.doctor.work.outbox_findings",
    }
    assert {within.get(path, path) for path in settings.PROBLEM_SOURCES} <= sources


def test_a_database_that_is_down_is_said_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_obstacle", ["The database server did not start. It said: FATAL: no room"])
    code, report = doctor()
    first, *others = report["examinations"]
    assert (code, first["name"], first["findings"][0]["code"]) == (2, "database", "database_unreachable")
    assert "It said: FATAL: no room." in first["findings"][0]["sentence"]
    assert [one["name"] for one in others if one["verdict"] is not None] == ["settings", "disk"]


def test_a_database_that_goes_away_ends_what_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def lose() -> Iterator[Problem]:
        raise OperationalError("words of a server")
        yield

    monkeypatch.setattr("tests.integration.memoryhub.test_hub_doctor.LOST", (Examination("lost", "Lost", (lose,)),) * 2)
    with override_settings(EXAMINATIONS="tests.integration.memoryhub.test_hub_doctor.LOST"):
        first, second = examine()
    assert first.findings is not None
    assert [finding.code for finding in first.findings] == ["database_unreachable"]
    assert "words" not in first.findings[0].sentence
    assert second.findings is None


LOST: tuple[Examination, ...] = ()


def test_a_directory_without_a_hub_is_said_and_left_alone(settings: Any, tmp_path: Path) -> None:
    settings.MEMORYHUB = replace(settings.MEMORYHUB, data_dir=tmp_path / "nothing")
    assert findings() == {"database_missing": "critical"}
    assert not (tmp_path / "nothing").exists()


def test_tables_of_a_newer_version(settings: Any) -> None:
    MigrationRecorder(connection).record_applied("semantic", "0999_of_tomorrow")
    assert findings()["migrations_unknown"] == "critical"


def test_a_missing_segment_file_and_an_unknown_one() -> None:
    path = segment_path(an_archived_segment(range(5)).file_name)
    an_archived_segment(range(5, 9))
    before = list(Segment.objects.order_by("pk").values())
    path.rename(path.with_name("2026-01-01-stranger.segment"))
    assert findings() == {"hub_stopped": "notice", "segments_damaged": "critical", "segments_unknown_file": "warning"}
    assert doctor()[0] == 2
    assert list(Segment.objects.order_by("pk").values()) == before, "not even when it was looked at"


def test_a_flipped_byte_is_found_on_request() -> None:
    path = segment_path(an_archived_segment(range(400)).file_name)
    raw = bytearray(path.read_bytes())
    raw[200] ^= 0x10
    path.write_bytes(raw)
    assert "segments_damaged" not in findings()
    assert findings("--files")["segments_damaged"] == "critical"
    assert path.read_bytes() == bytes(raw)


def test_the_folder_of_another_hub(timeline_dir: Path) -> None:
    an_archived_segment(range(5))
    (timeline_dir / ID_FILE).write_text("another\n")
    assert findings() == {"hub_stopped": "notice", "files_elsewhere": "critical"}


def test_notes_that_differ_from_their_versions(note: Path) -> None:
    note.write_text("- longer than before: " + SECRET)
    assert findings()["notes_unrecorded"] == "notice"
    beside("worker")
    assert findings()["notes_unrecorded"] == "warning"
    note.unlink()
    assert findings()["notes_missing"] == "warning"
    assert NoteVersion.objects.count() == 1


def test_a_note_of_the_same_size_is_read_on_request(note: Path) -> None:
    note.write_bytes(note.read_bytes()[:-3] + b"xy\n")
    assert "notes_unrecorded" not in findings()
    assert "notes_unrecorded" in findings("--files")


def test_a_change_of_a_note_that_did_not_end(note: Path) -> None:
    NoteVersion.objects.update(is_written=False)
    assert findings()["notes_unfinished"] == "notice"


def test_what_the_index_lacks() -> None:
    memory = remember()
    MemoryEmbedding.objects.all().delete()
    MemoryShard.objects.update(version=0)
    type(memory).objects.update(lexemes_version=1)
    found = findings()
    assert found["index_without_vector"] == found["index_outdated_words"] == "warning"
    assert found["index_out_of_order"] == "critical"


def test_vectors_of_another_model() -> None:
    remember()
    EmbeddingSpace.objects.update(model="another")
    assert findings()["index_other_space"] == "critical"


def test_schedules_that_are_missing() -> None:
    Schedule.objects.filter(name="events: sweep").delete()
    assert findings()["schedules_missing"] == "warning"
    assert not Schedule.objects.filter(name="events: sweep").exists()


def test_other_settings_than_those_of_the_hub() -> None:
    beside("worker")
    beside("web", facts={"settings": {**settings_facts(), "MEMORYHUB_AUDIT_DAYS": "another"}})
    assert findings()["settings_differ"] == "warning"


def test_processes_are_those_of_the_run_that_lives() -> None:
    beside("web", embedding="The embedding server does not answer.")
    HubProcess.objects.update(run="a run")
    assert findings()["embedding_not_ready"] == "critical"


@pytest.mark.parametrize(("ahead", "severity"), [(10, "warning"), (-3600, "critical")])
def test_a_clock_that_differs(ahead: int, severity: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time
    monkeypatch.setattr("memoryhub.doctor.database.time.time", lambda: now() + ahead)
    assert {one.code: one.severity.name.lower() for one in database.clock_findings()} == {"clock_differs": severity}


def test_connections_that_keep_their_sessions() -> None:
    """Those that do not are tried with a pooler, where `find_session_fault` is."""
    assert list(database.connection_findings()) == []


def test_sessions_that_cannot_be_opened_are_said_without_words(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise psycopg.OperationalError(SECRET)

    monkeypatch.setattr("apps.core.db.sessions.connect_session", refuse)
    [found] = database.connection_findings()
    assert (found.code, SECRET in found.sentence) == ("database_unreachable", False)


def test_a_source_that_fails_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Iterator[Problem]:
        raise ValueError(SECRET)

    monkeypatch.setattr("tests.integration.memoryhub.test_hub_doctor.LOST", (Examination("bad", "Bad", (fail,)),))
    with override_settings(EXAMINATIONS="tests.integration.memoryhub.test_hub_doctor.LOST"):
        [one] = examine()
    assert one.findings is not None
    assert (one.verdict, one.findings[0].code) == (Verdict.WARNINGS, "problems_unknown")
    assert SECRET not in one.findings[0].sentence


def test_the_words_say_what_is_wrong_and_what_to_do() -> None:
    Schedule.objects.filter(name="events: sweep").delete()
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("doctor", stdout=out)
    said = out.getvalue()
    assert "  warning: 1 schedule is missing: events: sweep.\n  Run `manage.py prepare`" in said
    assert said.endswith("Warnings: 16 examinations, 2 findings.\n")


def test_the_page_shows_the_report_to_operators() -> None:
    owner = Client()
    owner.force_login(User.objects.create_superuser("owner"))
    assert reverse("cockpit_doctor_report") in owner.get(reverse("cockpit_doctor")).content.decode()
    Schedule.objects.filter(name="events: sweep").delete()
    body = owner.get(reverse("cockpit_doctor_report")).content.decode()
    assert "1 schedule is missing: events: sweep." in body
    assert "The hub works, and something needs you" in body


def test_every_finding_is_documented() -> None:
    sources = [path.read_text("utf-8") for path in (ROOT / "memoryhub" / "doctor").glob("*.py")]
    codes = {
        code
        for text in sources
        for code in re.findall(
            r'"((?:database|connection|migrations|clock|hub|settings'
            r'|schedules|files|segments|timeline|notes|index)_[a-z_]+)",\n',
            text,
        )
    }
    assert len(codes) > 15
    page = (ROOT / "docs" / "operate" / "doctor.md").read_text("utf-8")
    named = codes | {f"segments_{kind.value}" for kind in FindingKind}
    assert {code for code in named if f"`{code}`" not in page} == set()


@pytest.mark.parametrize("bound", [{}, {"household_id": "home"}])
def test_the_page_is_closed_to_others(bound: dict[str, str]) -> None:
    role = "Viewer" if not bound else "Operator"
    user = account_create(username="eva", role=role, scope=Scope(**bound))
    client = Client()
    client.force_login(user)
    assert client.get(reverse("cockpit_doctor_report")).status_code == 403
