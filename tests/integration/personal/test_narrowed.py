"""Exports of some of what there is: of one person, by filters, and while a file is damaged; and the commands."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.core.domain.scope import Scope
from apps.core.personal.export import parse_filters
from apps.episodic.domain.event import EventDraft
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.models import Segment
from apps.episodic.services import events_record
from apps.episodic.store.file_cache import reset_archive_cache
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Conflict, Memory
from apps.semantic.services import memory_save
from tests.integration.episodic.timeline import Timeline
from tests.integration.personal.hubs import ACCESS, NOW, empty_hub, exported, imported

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _two_people(timeline_dir: Path) -> None:
    """Ana, who moved, and Ben; the events of both are in a file."""
    for content, project in (("I live in Oslo.", ""), ("I moved to Bergen.", ""), ("Roses need water.", "garden")):
        memory_save(access=ACCESS, draft=MemoryDraft(content, scope=Scope("ana"), project=project))
    memory_save(access=ACCESS, draft=MemoryDraft("I live in Rome.", scope=Scope("ben")))
    drafts = [EventDraft(NOW, kind, "It rang.", Scope(user)) for user in ("ana", "ben") for kind in ("visit", "call")]
    events_record(access=ACCESS, drafts=drafts)
    Timeline().archive()


def lines(file: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.splitlines()]


def filtered(text: str) -> list[dict[str, Any]]:
    written, filters = parse_filters(text)
    return lines(exported(Scope("ana"), filters=filters, written=written))


def of_kind(kind: str, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in found if line["kind"] == kind]


def test_an_export_of_a_person_is_of_nobody_else_and_can_be_imported() -> None:
    file = exported(Scope("ana"))
    assert {line["user_id"] for line in lines(file) if "user_id" in line} == {"ana"}
    assert len(of_kind("memory", lines(file))) == 3
    assert not of_kind("rules", lines(file))

    empty_hub()
    imported(file)

    assert exported(Scope("ana")) == file


def test_filters_narrow_memories_and_events() -> None:
    assert Conflict.objects.exists()
    found = filtered('{"memories": {"project": "garden"}, "events": {"event_type": "visit"}}')
    assert [line["content"] for line in of_kind("memory", found)] == ["Roses need water."]
    assert [line["event_type"] for line in of_kind("event", found)] == ["visit"]
    assert not of_kind("receipt", found)
    assert not of_kind("memory_link", found)
    assert found[0]["asked"]["filter"] == {"memories": {"project": "garden"}, "events": {"event_type": "visit"}}


@pytest.mark.parametrize("text", ["[]", "{", '{"receipts": {}}', '{"memories": 3}', '{"events": {"project": "x"}}'])
def test_a_filter_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(CommandError):
        call_command("export", filter=text, stderr=StringIO())


def test_an_export_says_that_a_damaged_file_may_hold_more(tmp_path: Path) -> None:
    Segment.objects.filter(state=SegmentState.ARCHIVED).update(state=SegmentState.QUARANTINED)
    reset_archive_cache()
    found = lines(exported())
    assert not of_kind("event", found)
    assert found[-1]["complete"] is False
    with pytest.raises(CommandError, match="damaged"):
        call_command("export", output=tmp_path / "hub.jsonl", stderr=StringIO())
    assert (tmp_path / "hub.jsonl").exists()


def test_commands_write_and_read_a_file(tmp_path: Path) -> None:
    file = tmp_path / "ana.jsonl"
    call_command("export", user_id="ana", output=file, stderr=StringIO())
    assert file.read_bytes() == exported(Scope("ana"))
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("export", output=file, stderr=StringIO())
    empty_hub()
    output = StringIO()
    call_command("import", file, stdout=output, stderr=StringIO())
    assert "memory: 3 new of 3" in output.getvalue()
    assert Memory.objects.count() == 3
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(CommandError, match="Line"):
        call_command("import", file, stdout=output, stderr=StringIO())
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("import", tmp_path / "none.jsonl")
