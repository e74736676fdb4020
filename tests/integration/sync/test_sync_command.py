"""`manage.py sync` on a real repository, from the first source to its removal, with its exit codes."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from apps.semantic.selectors import managed_memories
from apps.sync.models import KnowledgeSource
from apps.sync.runs.lock import source_lock
from tests.integration.sync.repository.repositories import Origin

pytestmark = pytest.mark.django_db(transaction=True)

TEA = "---\nid: ADR-1\ntitle: Drink tea\nstatus: accepted\n---\n\nGreen.\n"
COFFEE = "---\nid: ADR-2\ntitle: Drink coffee\nstatus: proposed\n---\n\nBlack.\n"


@pytest.fixture
def origin(tmp_path: Path, settings: Any) -> Origin:
    settings.SYNC_DIR = tmp_path / "data" / "sync"
    settings.MEMORYHUB = replace(settings.MEMORYHUB, sync=replace(settings.MEMORYHUB.sync, roots=(tmp_path,)))
    made = Origin(tmp_path / "decisions.git")
    made.commit({"adr/1.md": TEA, "adr/2.md": COFFEE})
    return made


def sync(*words: object) -> str:
    """Return what the command prints."""
    out = StringIO()
    call_command("sync", *map(str, words), stdout=out, stderr=StringIO())
    return out.getvalue()


def as_json(*words: object) -> Any:
    """Return what the command answers as JSON."""
    return json.loads(sync(*words, "--json"))


def code_of(call: Callable[[], object]) -> int:
    """Return the exit code of a command that fails."""
    with pytest.raises(CommandError) as caught:
        call()
    return caught.value.returncode


def add(origin: Origin, *options: str) -> str:
    """Add the source and return its name."""
    sync("add", "decisions", origin.path, "--owner", "team:platform", *options)
    return "decisions"


@contextmanager
def locked_elsewhere(pk: int) -> Iterator[None]:
    """Have another session of the database hold the lock of a source."""
    held, over = Event(), Event()

    def hold() -> None:
        with source_lock(pk):
            held.set()
            over.wait(30)
        connections.close_all()

    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(hold)
        assert held.wait(30)
        yield
        over.set()
        done.result()


def test_a_source_is_created_tried_and_synced(origin: Origin) -> None:
    name = add(origin, "--staleness", "6h", "--include", "**/*.md")
    shown = as_json("show", name)
    assert (shown["staleness_seconds"], shown["include"]) == (21_600, ["**/*.md"])
    assert name in sync("list")
    assert "would be added" in sync("dry-run", name)
    assert "2 added" in sync("full", name)
    origin.commit({"adr/2.md": COFFEE.replace("proposed", "accepted")})
    assert "1 updated" in sync("incremental", shown["id"])
    assert as_json("item", name, "ADR-1")["counts"]["unchanged"] == 1
    status = as_json("status", name)
    assert (status["state"]["items"], status["should_sync"]["reason"], len(status["runs"])) == (2, "manual", 3)
    assert status["state"]["last_commit"] in sync("status", name)


def test_a_source_is_decided_about_rolled_back_and_removed(origin: Origin) -> None:
    name = add(origin, "--resolution", "orphaned_pointer=manual")
    sync("full", name)
    origin.commit({"adr/2.md": None})
    sync("incremental", name)
    [conflict] = as_json("conflicts", name)
    assert conflict["id"] in sync("conflicts", name)
    assert "delete_memory" in sync("resolve", conflict["id"], "delete_memory")
    assert "No conflict" in sync("conflicts", name)
    assert conflict["id"] in {each["id"] for each in as_json("conflicts", name, "--all")}

    source = KnowledgeSource.objects.get()
    assert len(managed_memories(source.manager)) == 1
    checkpoints = as_json("rollback", name)
    assert "is paused" in sync("rollback", name, checkpoints[0]["id"])
    assert len(managed_memories(source.manager)) == 2
    assert "PAUSED" in sync("list")
    sync("resume", name)
    assert as_json("pause", name, "--reason", "the forge moves")["paused"] == "the forge moves"

    assert code_of(lambda: sync("remove", name)) == 1
    sync("remove", name, "--yes")
    assert (as_json("list"), managed_memories(source.manager)) == ([], [])


def test_exit_codes_say_why_a_sync_is_not_complete(origin: Origin) -> None:
    name = add(origin)
    origin.commit({"adr/3.md": ""})
    assert code_of(lambda: sync("full", name)) == 3
    with locked_elsewhere(KnowledgeSource.objects.get().pk):
        assert code_of(lambda: sync("full", name)) == 5
    KnowledgeSource.objects.update(location=f"{origin.path}.gone")
    assert code_of(lambda: sync("full", name)) == 4
    assert code_of(lambda: sync("full", "another")) == 1
    assert code_of(lambda: sync("resolve", "x", "keep_memory")) == 1
    assert code_of(lambda: sync("rollback", name, "x")) == 1
    assert code_of(lambda: sync("add", "other", origin.path, "--owner", "ana", "--staleness", "soon")) == 1


def test_progress_and_refused_files_go_to_standard_error(origin: Origin) -> None:
    name, out, err = add(origin), StringIO(), StringIO()
    origin.commit({"adr/3.md": ""})
    with pytest.raises(CommandError):
        call_command("sync", "full", name, "--json", stdout=out, stderr=err)
    assert json.loads(out.getvalue())["code"] == "PARTIAL_FAILURE"
    assert "adr/3.md: empty: The file is empty." in err.getvalue()
