"""Processes that write notes: some kill themselves at a step, some append in a crowd, some save like editors."""

import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any
from uuid import UUID

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402

from apps.core.domain.errors import UnavailableError  # noqa: E402
from apps.llm.providers.scripted import ScriptedChat  # noqa: E402
from apps.notes.compaction.decide import compaction_apply, compaction_undo  # noqa: E402
from apps.notes.compaction.run import compaction_run  # noqa: E402
from apps.notes.domain.places import MAIN, parse_place  # noqa: E402
from apps.notes.files.changes import note_append, note_edit, note_read  # noqa: E402
from apps.notes.files.removal import folder_rename, note_delete, note_rename  # noqa: E402
from apps.notes.models import ExtractionRun  # noqa: E402
from apps.notes.services import runs_continue  # noqa: E402
from tests.system.ended import noticed  # noqa: E402

PATIENCE = 120.0


def begin(work: Any, *arguments: Any) -> multiprocessing.process.BaseProcess:
    """Start a process that does something with the notes of this one."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    place = (
        str(connection.settings_dict["NAME"]),
        str(settings.NOTES_DIR),
        str(settings.NOTES_LOCKS_DIR),
        str(settings.NOTES_INDEX_DIR),
    )
    process = context.Process(target=_run, args=(place, work, arguments), daemon=True)
    process.start()
    return process


def killed(work: Any, *arguments: Any) -> None:
    """Have a process do something until it kills itself, and wait until the database has noticed."""
    with noticed():
        process = begin(work, *arguments)
        process.join(PATIENCE)
        assert process.exitcode == -signal.SIGKILL, f"exit code {process.exitcode}"


def _run(place: tuple[str, ...], work: Any, arguments: tuple[Any, ...]) -> None:
    connection.settings_dict["NAME"] = place[0]
    settings.NOTES_DIR, settings.NOTES_LOCKS_DIR, settings.NOTES_INDEX_DIR = (Path(each) for each in place[1:])
    work(*arguments)


def die_at(step: str) -> Any:
    """Return a function of steps that ends the process at one of them."""

    def die(name: str) -> None:
        if name == step:
            os.kill(os.getpid(), signal.SIGKILL)

    return die


def append_and_die(entry: str, operation: str, step: str) -> None:
    note_append("ana", MAIN, entry, author="killed", operation=operation, step=die_at(step))


def edit_and_die(text: str, step: str) -> None:
    note_edit("ana", MAIN, text, base=note_read("ana", MAIN).sha256, author="killed", step=die_at(step))


def delete_and_die(step: str) -> None:
    note_delete("ana", MAIN, author="killed", step=die_at(step))


def rename_and_die(old: str, new: str, step: str) -> None:
    rename = note_rename if old.endswith(".md") else folder_rename
    rename("ana", parse_place(old), parse_place(new), author="killed", step=die_at(step))


def append_many(name: str, count: int) -> None:
    """Add entries as a client does: one that is refused because others write is repeated, as the answer says."""
    for number in range(count):
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                note_append("ana", MAIN, f"{name} {number}", author=name, operation=f"{name} {number}")
                break
            except UnavailableError:
                if time.monotonic() > deadline:
                    raise


def save_like_an_editor(path: str, name: str, count: int, in_place: bool) -> None:
    """Read the file, think for a moment, and save it with a line more, over whatever has been added since."""
    file = Path(path)
    for number in range(count):
        text = file.read_bytes()
        time.sleep(0.02)
        text = f"{name} {number}\n".encode() + text
        if in_place:
            with file.open("wb") as opened:
                opened.write(text)
        else:
            aside = file.with_name(f"{name}.tmp")
            aside.write_bytes(text)
            aside.rename(file)
        time.sleep(0.4)


def extract_and_die(step: str) -> None:
    runs_continue(step=die_at(step))


def extract_until_done() -> None:
    """Extract as a worker does, until every run has ended."""
    deadline = time.monotonic() + PATIENCE
    while ExtractionRun.objects.exclude(state__in=("finished", "failed")).exists() and time.monotonic() < deadline:
        runs_continue()
        time.sleep(0.05)


def compact_and_die(uuid: str, said: str, step: str) -> None:
    """Run a compaction with a model that says something."""
    model = ScriptedChat([said], name="own", model="gpt-4o-mini")
    compaction_run(UUID(uuid), providers=[model], step=die_at(step))


def apply_and_die(uuid: str, step: str) -> None:
    compaction_apply(UUID(uuid), actor="killed", step=die_at(step))


def undo_and_die(uuid: str, step: str) -> None:
    compaction_undo(UUID(uuid), actor="killed", step=die_at(step))
