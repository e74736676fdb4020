"""Notes of a person leave with the person, and come back with an export."""

import json
from datetime import date

import pytest
from django.core.management import call_command

from apps.core.domain.scope import Scope
from apps.core.personal.store import ExportRequest, LineError
from apps.notes.domain.places import MAIN, daily_place
from apps.notes.files.changes import note_append, note_read
from apps.notes.files.folder import MAX_BYTES
from apps.notes.files.owner import folder_of
from apps.notes.files.watch import find_users
from apps.notes.models import NoteVersion
from apps.notes.personal.stores import NoteStore
from tests.api import api_for

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def people():
    for user in ("ana", "ben"):
        note_append(user, MAIN, f"{user} likes tea", author="test")
        note_append(user, MAIN, f"{user} likes rice", author="test")
        note_append(user, daily_place(date(2026, 3, 4)), f"{user} was here", author="test")


def test_forgetting_takes_files_versions_and_hidden_files_of_one_person():
    store = NoteStore()
    before = folder_of("ben").read(MAIN)
    assert store.count("ana") == 2 + 3
    assert sum(store.forget("ana")) == store.count("ben") == 5
    assert list(store.find("ana")) == []
    assert "ana" not in find_users()
    folder_of("ana").path.mkdir()
    assert list(store.find("ana")) == ["folder of notes"]
    assert sum(store.forget("ana")) == 0
    assert not folder_of("ana").path.exists()
    assert list(store.find("ben")) == ["files of notes", "versions of notes"]
    assert folder_of("ben").read(MAIN) == before


def test_export_and_import_of_notes_are_equal():
    store = NoteStore()
    folder_of("ana").path.joinpath("odd.md").write_bytes(b"caf\xe9\r\n")
    lines = list(store.export(ExportRequest()))
    assert len(lines) == 5
    for user in ("ana", "ben"):
        list(store.forget(user))
    assert store.is_empty()
    assert store.load(json.loads(json.dumps(lines))) == 5
    assert list(store.export(ExportRequest())) == lines
    assert store.load(lines) == 0
    assert [line["user_id"] for line in store.export(ExportRequest(Scope("ben")))] == ["ben", "ben"]
    assert list(store.export(ExportRequest(Scope("ben", household_id="home")))) == []


def test_import_leaves_a_note_that_is_there():
    line = {"kind": "note", "user_id": "ana", "path": "MEMORY.md", "text": "from elsewhere"}
    assert NoteStore().load([line]) == 0
    assert note_read("ana", MAIN).text == b"- ana likes tea\n- ana likes rice\n"


@pytest.mark.parametrize("user", ["", None, 5, "x" * 201], ids=["empty", "none", "number", "long"])
def test_import_for_no_user_is_refused(user):
    with pytest.raises(LineError):
        NoteStore().load([{"kind": "note", "user_id": user, "path": "ben/MEMORY.md", "text": "x"}])


def test_note_that_cannot_be_read_is_counted_and_the_others_are_exported():
    with folder_of("ana").path.joinpath("huge.md").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert len(list(NoteStore().export(ExportRequest()))) == 4
    assert NoteStore().count_damaged(ExportRequest()) == 1


@pytest.mark.parametrize("path", ["passwords.kdbx", "../x.md", "/etc/x", "users/ben/MEMORY.md"])
def test_hostile_path_in_an_import_is_refused(path):
    with pytest.raises(LineError):
        NoteStore().load([{"kind": "note", "user_id": "ana", "path": path, "text": "x"}])


@pytest.mark.usefixtures("timeline_dir")
@pytest.mark.django_db(transaction=True)
def test_command_forgets_notes_and_refuses_none_of_others(capsys):
    call_command("forget", "ana", "--yes")
    assert not NoteVersion.objects.filter(user_id="ana").exists()
    assert not folder_of("ana").has_anything()
    assert api_for(Scope("ben")).get("/api/memory/main").json()["text"].startswith("- ben")
