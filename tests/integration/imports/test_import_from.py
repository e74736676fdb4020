"""`manage.py import_from`: what each kind of files becomes, once, with its date and origin, and undone as a whole."""

import json
import os
from collections import Counter
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Access, Permission, Scope
from apps.core.pauses import pause_begin
from apps.episodic.models import TimelineEvent
from apps.imports.domain.found import Kind
from apps.imports.management.commands.import_from import ACTOR
from apps.imports.models import Import, ImportState
from apps.imports.running.run import import_run
from apps.imports.services import import_begin
from apps.notes.domain.places import NotePlace
from apps.notes.files.owner import folder_of
from apps.notes.models import NoteVersion
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Memory, MemoryStatus
from apps.semantic.services import MemoryEdit, memory_delete, memory_save, memory_update
from tests.integration.imports.exports import KEPT, MEM0, export_of, folder, zipped
from tests.integration.imports.locks import worked_on

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("timeline_dir", "notes_dir")]
ANA, BEN = "ana", "ben"
EVERY_KIND = pytest.mark.parametrize("kind", list(Kind))


def access(user: str = ANA) -> Access:
    return Access(Scope(user), Permission.WRITE, f"person:{user}", origin=WriteOrigin.PERSON)


def run(*arguments: object) -> dict[str, Any]:
    """Run the command, and return what it prints as JSON."""
    out = StringIO()
    call_command("import_from", *map(str, arguments), "--json", stdout=out, stderr=StringIO())
    answer: dict[str, Any] = json.loads(out.getvalue())
    return answer


def bring(kind: Kind, path: Path, *options: str, user: str = ANA) -> dict[str, Any]:
    return run(kind.value, path, "--user", user, *options)


def undo() -> dict[str, Any]:
    record = Import.objects.latest("pk")
    return run("undo", record.uuid)


def notes_of(user: str = ANA) -> list[str]:
    return sorted(str(place) for place in folder_of(user).places())


def stored(user: str = ANA) -> tuple[int, int, int]:
    """Return how many active memories, events and notes a user has."""
    memories = Memory.objects.filter(user_id=user, status=MemoryStatus.ACTIVE).count()
    return memories, TimelineEvent.objects.filter(user_id=user).count(), len(notes_of(user))


def counted(answer: dict[str, Any], name: str) -> tuple[int, int, int]:
    counts = Counter(answer[name])
    return counts["memories"], counts["events"], counts["notes"]


@EVERY_KIND
def test_a_dry_run_counts_and_changes_nothing(kind: Kind, tmp_path: Path) -> None:
    answer = bring(kind, export_of(kind, tmp_path), "--dry-run")
    assert (*counted(answer, "kept"), sum(answer["refused"].values())) == KEPT[kind]
    assert stored() == (0, 0, 0)
    assert not Import.objects.exists()


@EVERY_KIND
def test_an_import_keeps_what_the_dry_run_counted(kind: Kind, tmp_path: Path) -> None:
    answer = bring(kind, export_of(kind, tmp_path))
    assert (*counted(answer, "kept"), sum(answer["refused"].values())) == KEPT[kind]
    assert stored() == KEPT[kind][:3]
    assert stored(BEN) == (0, 0, 0)


@EVERY_KIND
def test_the_same_again_keeps_nothing_new(kind: Kind, tmp_path: Path) -> None:
    path = export_of(kind, tmp_path)
    bring(kind, path)
    for options in (["--dry-run"], []):
        again = bring(kind, path, *options)
        assert (counted(again, "kept"), counted(again, "known")) == ((0, 0, 0), KEPT[kind][:3])
    assert stored() == KEPT[kind][:3]


@EVERY_KIND
def test_undo_forgets_what_the_import_kept_and_nothing_else(kind: Kind, tmp_path: Path) -> None:
    memory_save(access=access(), draft=MemoryDraft(content="Has a brown dog", scope=Scope(ANA)))
    path = export_of(kind, tmp_path)
    bring(kind, path, user=BEN)
    bring(kind, path)
    undone = undo()
    assert counted(undone, "forgotten") == KEPT[kind][:3]
    assert stored() == (1, 0, 0)
    assert stored(BEN) == KEPT[kind][:3]
    assert Import.objects.latest("pk").state == ImportState.UNDONE


@EVERY_KIND
def test_what_was_undone_can_be_brought_again(kind: Kind, tmp_path: Path) -> None:
    path = export_of(kind, tmp_path)
    bring(kind, path)
    undo()
    assert counted(bring(kind, path), "kept") == KEPT[kind][:3]
    assert stored() == KEPT[kind][:3]


@EVERY_KIND
def test_a_hostile_archive_is_refused_as_a_whole(kind: Kind, tmp_path: Path) -> None:
    harmless = {"conversations.json": "[]", "memories.json": "[]", "MEMORY.md": "- one", "a.md": "text"}
    path = zipped(tmp_path / "bad.zip", {**harmless, "../../outside.md": "x"})
    for options in (["--dry-run"], []):
        with pytest.raises(CommandError, match="leads outside"):
            bring(kind, path, *options)
    assert stored() == (0, 0, 0)
    assert not (tmp_path.parent / "outside.md").exists()


def test_dates_and_origins_are_those_of_the_original(tmp_path: Path) -> None:
    bring(Kind.CHATGPT, export_of(Kind.CHATGPT, tmp_path))
    question, answer = TimelineEvent.objects.filter(user_id=ANA).order_by("timestamp")
    assert question.timestamp == datetime(2026, 1, 1, 0, 0, 1, 500_000, UTC)
    assert (question.origin, answer.origin) == ("person", "app")
    assert question.metadata["conversation"] == "talk-1"
    memory = Memory.objects.get(user_id=ANA)
    assert memory.occurred_at == datetime(2026, 1, 1, 0, 0, 6, tzinfo=UTC)
    assert (memory.origin, memory.metadata["import"]["title"]) == ("app", "Garlic")


def test_metadata_of_mem0_is_kept(tmp_path: Path) -> None:
    bring(Kind.MEM0, export_of(Kind.MEM0, tmp_path))
    memory = Memory.objects.get(user_id=ANA, content="Plays the cello")
    assert (memory.type, memory.keywords, memory.metadata["page"]) == ("hobby", ["music"], 3)
    assert memory.metadata["import"] == {"import": "mem0", "id": "1"}


def test_a_note_has_the_text_and_the_time_of_its_file(tmp_path: Path) -> None:
    path = folder(tmp_path / "vault", {"plan.md": b"# Plan\r\n\r\ntext"})
    os.utime(path / "plan.md", (1_700_000_000, 1_700_000_000))
    bring(Kind.MARKDOWN, path)
    written = folder_of(ANA).path / "markdown" / "plan.md"
    assert (written.read_bytes(), written.stat().st_mtime) == (b"# Plan\r\n\r\ntext", 1_700_000_000)


def test_a_note_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    path = folder(tmp_path / "vault", {"plan.md": "first"})
    bring(Kind.MARKDOWN, path)
    (path / "plan.md").write_text("second")
    assert bring(Kind.MARKDOWN, path)["refused"] == {"note_exists": 1}
    assert folder_of(ANA).read(NotePlace(("markdown", "plan.md"))) == b"first"


def test_undo_leaves_what_was_changed_or_confirmed_since(tmp_path: Path) -> None:
    bring(Kind.CLAUDE, export_of(Kind.CLAUDE, tmp_path))
    confirmed = Memory.objects.get(content="Uses metric units")
    edit = MemoryEdit({"content": "Uses metric units at work"})
    memory_update(access=access(), uuid=confirmed.uuid, edit=edit)
    (folder_of(ANA).path / "claude" / "projects" / "Shop" / "menu.md").write_text("# Menu\n\nSpelt\n")
    undone = undo()
    assert counted(undone, "forgotten") == (1, 2, 0)
    assert counted(undone, "kept") == (1, 0, 1)
    assert stored() == (1, 0, 1)


def test_undo_brings_back_what_an_import_had_replaced(tmp_path: Path) -> None:
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    app = Access(Scope(ANA), Permission.WRITE, "key:app")
    old = MemoryDraft(content="Ana lives in Oslo", scope=Scope(ANA), occurred_at=moment)
    saved = memory_save(access=app, draft=old).memory
    value = [{"memory": "Ana no longer lives in Oslo", "created_at": "2025-06-07T08:09:10Z"}]
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps(value))
    bring(Kind.MEM0, path)
    saved.refresh_from_db()
    assert saved.status == MemoryStatus.SUPERSEDED
    assert undo()["decisions"] == 1
    saved.refresh_from_db()
    assert (saved.status, stored()) == (MemoryStatus.ACTIVE, (1, 0, 0))


def test_what_a_person_forgot_is_not_brought_back_by_the_same_files(tmp_path: Path) -> None:
    path = export_of(Kind.MEM0, tmp_path)
    bring(Kind.MEM0, path)
    memory_delete(access=access(), uuid=Memory.objects.get(content="Plays the cello").uuid)
    assert counted(bring(Kind.MEM0, path), "kept") == (0, 0, 0)


def test_what_the_hub_knows_stays_as_it_is(tmp_path: Path) -> None:
    known = memory_save(access=access(), draft=MemoryDraft(content="Wants short answers", scope=Scope(ANA))).memory
    answer = bring(Kind.CLAUDE, export_of(Kind.CLAUDE, tmp_path))
    assert (answer["kept"]["memories"], answer["known"]["memories"]) == (1, 1)
    version = known.version
    known.refresh_from_db()
    assert (known.version, known.metadata) == (version, {})


def test_memories_of_several_users_are_not_mixed(tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps([*MEM0[:2], {"memory": "Keeps bees", "user_id": "v"}]))
    assert bring(Kind.MEM0, path)["refused"] == {"other_user": 3}
    assert counted(bring(Kind.MEM0, path, "--from-user", "v"), "kept") == (1, 0, 0)
    assert Memory.objects.get(user_id=ANA).content == "Keeps bees"


def test_a_person_who_has_paused_saving_gets_nothing(tmp_path: Path) -> None:
    pause_begin(user_id=ANA, until=None, actor="test")
    with pytest.raises(CommandError, match="paused"):
        bring(Kind.MEM0, export_of(Kind.MEM0, tmp_path))
    assert stored() == (0, 0, 0)


def test_characters_that_no_database_holds_stop_nothing(tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    value = [{"memory": "Sings\u0000 alto", "metadata": {"a\u0000": "b\u0000"}}, {"memory": "x" * 200_000}, MEM0[1]]
    path.write_text(json.dumps(value))
    answer = bring(Kind.MEM0, path)
    assert (answer["kept"], answer["refused"]) == ({"memories": 2}, {"too_long": 1})
    assert Memory.objects.filter(content="Sings alto").exists()


def test_the_wrong_kind_is_said(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="right kind"):
        bring(Kind.CHATGPT, export_of(Kind.MARKDOWN, tmp_path))


def test_what_was_kept_before_the_files_break_off_can_be_undone(tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps(MEM0)[:-30])
    with pytest.raises(CommandError, match="cut off"):
        bring(Kind.MEM0, path)
    assert Import.objects.get().state == ImportState.FAILED


class Killed(BaseException):
    """The process ends."""


@pytest.mark.parametrize("place", ["kept", "counted"])
def test_an_import_that_was_killed_goes_on_and_counts_once(tmp_path: Path, place: str) -> None:
    files: dict[str, str | bytes] = {f"{number}.md": f"- [fact] Fact number {number}\n" for number in range(5)}
    path = folder(tmp_path / "basic", files)
    record = import_begin(user_id=ANA, kind=Kind.BASIC_MEMORY, name="b", asked_by="test")
    left = [3]

    def step(name: str) -> None:
        left[0] -= name == place
        if not left[0]:
            raise Killed

    with pytest.raises(Killed):
        import_run(record=record, path=path, step=step)
    assert import_run(record=record, path=path)
    assert record.counts["kept"] == {"memories": 5, "notes": 5}
    assert record.counts["known"] == {}


def begin_and_die(path: Path) -> Import:
    """Begin an import as the command does, in a process that is killed after its first batch."""
    record = import_begin(user_id=ANA, kind=Kind.BASIC_MEMORY, name=str(path), asked_by=ACTOR)

    def step(name: str) -> None:
        if name == "counted":
            raise Killed

    with pytest.raises(Killed):
        import_run(record=record, path=path, step=step)
    return record


def test_the_same_command_goes_on_with_an_import_that_was_killed(tmp_path: Path) -> None:
    path = folder(tmp_path / "basic", {f"{number}.md": f"- [fact] Fact number {number}\n" for number in range(5)})
    record = begin_and_die(path)
    assert bring(Kind.BASIC_MEMORY, path)["kept"] == {"memories": 5, "notes": 5}
    assert [row.pk for row in Import.objects.all()] == [record.pk]
    assert stored() == (5, 0, 5)


def test_an_import_does_not_go_on_with_other_files(tmp_path: Path) -> None:
    path = folder(tmp_path / "basic", {"a.md": "- [fact] One\n", "b.md": "- [fact] Two\n"})
    begin_and_die(path)
    (path / "a.md").write_text("- [fact] Something else\n")
    with pytest.raises(CommandError, match="files have changed"):
        bring(Kind.BASIC_MEMORY, path)
    assert Import.objects.get().state == ImportState.FAILED


def test_an_import_that_another_process_works_on_is_left_to_it(tmp_path: Path) -> None:
    path = folder(tmp_path / "basic", {"a.md": "- [fact] One\n", "b.md": "- [fact] Two\n"})
    record = begin_and_die(path)
    with worked_on(record), pytest.raises(CommandError, match="being worked on"):
        bring(Kind.BASIC_MEMORY, path)
    assert Import.objects.get().state == ImportState.RUNNING


def test_two_imports_of_a_person_do_not_run_at_once(tmp_path: Path) -> None:
    import_begin(user_id=ANA, kind=Kind.MEM0, name="b", asked_by="test")
    with pytest.raises(CommandError, match="goes on"):
        bring(Kind.MEM0, export_of(Kind.MEM0, tmp_path))
    assert counted(bring(Kind.MEM0, export_of(Kind.MEM0, tmp_path), user=BEN), "kept") == (2, 0, 0)


def test_versions_of_notes_name_the_import(tmp_path: Path) -> None:
    bring(Kind.MARKDOWN, export_of(Kind.MARKDOWN, tmp_path))
    assert set(NoteVersion.objects.values_list("author", flat=True)) == {Import.objects.get().actor}
