"""What an import refuses, with the number of the line, and what it leaves alone."""

import json
from typing import Any

import pytest

from apps.core.domain.scope import Scope
from apps.core.personal.load import RefusedFileError
from apps.episodic.domain.event import EventDraft
from apps.episodic.models import RetentionPolicy, TimelineEvent
from apps.episodic.services import events_record
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Memory, MemoryRevision
from apps.semantic.services import memory_delete, memory_restore, memory_save, memory_save_many
from tests.integration.personal.hubs import ACCESS, NOW, empty_hub, exported, imported

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("timeline_dir")]


@pytest.fixture
def file() -> list[bytes]:
    """The lines of an export of three memories and two events; the hub is empty again."""
    texts = ("The tap drips.", "Oskar plays chess on Mondays.", "The cellar key hangs behind the door.")
    memory_save_many(access=ACCESS, drafts=[MemoryDraft(text, scope=Scope("ana")) for text in texts])
    events = [EventDraft(NOW, "visit", content, Scope("ana")) for content in ("The plumber came.", "He came again.")]
    events_record(access=ACCESS, drafts=events)
    lines = exported(with_vectors=True).splitlines(keepends=True)
    empty_hub()
    return lines


def changed(line: bytes, **fields: Any) -> bytes:
    return json.dumps({**json.loads(line), **fields}).encode() + b"\n"


def place_of(file: list[bytes], kind: str, which: int = 0) -> int:
    return [place for place, line in enumerate(file) if json.loads(line)["kind"] == kind][which]


def refusal(lines: list[bytes]) -> str:
    with pytest.raises(RefusedFileError) as caught:
        imported(b"".join(lines))
    return caught.value.detail


def test_a_second_import_changes_nothing(file: list[bytes]) -> None:
    whole = b"".join(file)
    imported(whole)
    again = imported(whole)

    assert again.new.total() == 0
    assert exported(with_vectors=True) == whole


def test_what_was_changed_since_stays(file: list[bytes]) -> None:
    imported(b"".join(file))
    memory = Memory.objects.earliest("pk")
    memory_delete(access=ACCESS, uuid=memory.uuid)
    memory_restore(access=ACCESS, uuid=memory.uuid)
    RetentionPolicy.objects.create(household_id="home", days=5)

    report = imported(b"".join(file))

    assert MemoryRevision.objects.filter(memory=memory).count() == 3
    assert RetentionPolicy.objects.filter(household_id="home").exists()
    assert report.skipped["retention_policies"] == 1


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"importance": "high"}, "importance is invalid"),
        ({"content": None}, "content is null"),
        ({"colour": "red"}, "unknown field 'colour'"),
        ({"created_at": "2026-03-04T12:00:00"}, "created_at is invalid"),
        ({"status": "asleep"}, "status is invalid"),
        ({"uuid": "7"}, "uuid is not an id"),
        ({"history": 3}, "history is invalid"),
        ({"history": [3]}, "a row is not an object"),
        ({"embedding": {"model": "x"}}, "embedding is invalid"),
        ({"importance": 1.5}, "the database refuses it (semantic_memory_importance_range)"),
        ({"user_id": ""}, "the database refuses it (semantic_memory_user_required)"),
        ({"content": "half of a pair: \ud800"}, "content is invalid"),
    ],
)
def test_a_damaged_line_is_named_and_its_batch_not_written(
    file: list[bytes], fields: dict[str, Any], problem: str
) -> None:
    place = place_of(file, "memory", 1)
    file[place] = changed(file[place], **fields)

    assert refusal(file) == f"Line {place + 1}: {problem}."
    assert not Memory.objects.exists()
    assert not MemoryRevision.objects.exists()
    assert TimelineEvent.objects.count() == 2


def test_a_line_needs_no_columns_that_have_defaults(file: list[bytes]) -> None:
    absent = {"event": ("persona_id", "metadata", "source"), "memory": ("project", "expires_at", "history")}
    for kind, names in absent.items():
        place = place_of(file, kind)
        line = json.loads(file[place])
        file[place] = json.dumps({name: value for name, value in line.items() if name not in names}).encode() + b"\n"

    assert imported(b"".join(file)).new["memory"] == 3
    assert TimelineEvent.objects.filter(persona_id="", metadata={}, source="user").count() == 2


def test_a_damaged_event_is_named(file: list[bytes]) -> None:
    place = place_of(file, "event", 1)
    file[place] = changed(file[place], importance=7)

    assert refusal(file).startswith(f"Line {place + 1}: ")
    assert not TimelineEvent.objects.exists()


def test_broken_json_is_named_and_what_came_before_in_the_batch_not_written(file: list[bytes]) -> None:
    place = place_of(file, "memory", 2)
    file[place] = file[place][:30] + b"\n"

    assert refusal(file) == f"Line {place + 1}: damaged, it is not JSON."
    assert not Memory.objects.exists()


@pytest.mark.parametrize("raw", [b"3\n", b'{"kind": "wish"}\n', b"{}\n", b"\xff\n", b"\n", b"[" * 100_000 + b"\n"])
def test_what_is_no_line_is_refused(file: list[bytes], raw: bytes) -> None:
    assert refusal([*file[:3], raw, *file[3:]]).startswith("Line 4: damaged")


def test_a_newer_format_is_refused(file: list[bytes]) -> None:
    file[0] = changed(file[0], format=2, hub="9.0")

    assert refusal(file) == (
        "The export has format 2, and this hub reads up to 1. Update the hub: the export was made by version 9.0."
    )
    assert not TimelineEvent.objects.exists()


def test_a_file_without_header_or_end_is_refused(file: list[bytes]) -> None:
    assert "header" in refusal(file[1:])
    assert "header" in refusal([])
    assert "its last line is missing" in refusal(file[:-1])
    assert "not have the same lines" in refusal([line for line in file if b'"kind":"memory"' not in line])
    assert "nothing follows" in refusal([*file, file[1]])


def test_the_same_content_of_another_memory_is_refused_by_name(file: list[bytes]) -> None:
    memory_save(access=ACCESS, draft=MemoryDraft("The tap drips.", scope=Scope("ana")))

    assert "semantic_memory_active_once" in refusal(file)
    assert Memory.objects.count() == 1
