"""Notes in the admin: files with their versions, differences and restoration."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.core.domain.scope import system_access
from apps.notes.domain.places import MAIN
from apps.notes.models import ChangeKind, NoteVersion
from apps.notes.selectors import note_get
from apps.notes.services import NoteChangedError, daily_append, main_append, note_edit
from tests.integration.admin.pages import address, text_of

pytestmark = pytest.mark.django_db

ACCESS = system_access("test")
LIST = "/admin/notes/noteversion/"


@pytest.fixture(autouse=True)
def folder(notes_dir: Path) -> Path:
    """Notes below a folder of the test."""
    return notes_dir


def add(entry: str, user: str = "ana") -> NoteVersion:
    return main_append(access=ACCESS, user_id=user, entry=entry)[0]


def results(client: Client, **query: Any) -> list[NoteVersion]:
    response: Any = client.get(LIST, query)
    assert response.status_code == 200
    return list(response.context["cl"].result_list)


def test_list_shows_each_note_once_with_its_latest_version(operator: Client) -> None:
    add("Ana likes tea.")
    second = add("Ana likes figs.")
    log, _ = daily_append(access=ACCESS, user_id="ana", entry="Tea with Ben.")
    other = add("Ben likes rain.", user="ben")
    assert results(operator) == [other, log, second]
    assert len(results(operator, versions="all")) == 4
    assert results(operator, user_id="ben") == [other]


@pytest.mark.parametrize("term", ["ana", "MEMORY", "id"])
def test_search_finds_by_user_path_and_id(operator: Client, term: str) -> None:
    version = add("Ana likes tea.")
    daily_append(access=ACCESS, user_id="ben", entry="Rain.")
    assert results(operator, q=str(version.uuid) if term == "id" else term) == [version]


def test_page_shows_what_a_version_changed_and_its_text(operator: Client) -> None:
    add("Ana likes tea.")
    version = add("Ana likes <b>figs</b>.")
    text = text_of(operator, address(NoteVersion, "change", version.pk))
    assert '<span class="mh-diff-added">+- Ana likes &lt;b&gt;figs&lt;/b&gt;.</span>' in text
    assert '<span class="mh-diff-same"> - Ana likes tea.</span>' in text
    assert "Before: version 1" in text


def test_a_version_is_restored_and_what_was_there_stays(operator: Client) -> None:
    first = add("Ana likes tea.")
    edited = note_edit(access=ACCESS, user_id="ana", place=MAIN, text="All new.\n", base=first.sha256)
    url = address(NoteVersion, "restore_this", first.pk)
    assert "Restore this version?" in text_of(operator, url)
    assert operator.post(url, {"_form_submitted": "True"}).status_code == 302
    note = note_get(ACCESS, "ana", MAIN)
    assert note.text == b"- Ana likes tea.\n"
    assert note.version is not None
    assert (note.version.kind, note.version.author) == (ChangeKind.RESTORE, "admin:operator")
    assert NoteVersion.objects.filter(pk=edited.pk).exists()


def test_restoring_needs_the_permission_to_change(staff: Callable[..., Client]) -> None:
    version, reader = add("Ana likes tea."), staff("view_noteversion")
    assert "Ana likes tea." in text_of(reader, address(NoteVersion, "change", version.pk))
    assert reader.post(address(NoteVersion, "restore_this", version.pk), {"_form_submitted": "True"}).status_code == 403


def test_what_lost_to_another_change_is_listed_with_all_versions_only(operator: Client) -> None:
    first = add("Ana likes tea.")
    with pytest.raises(NoteChangedError):
        note_edit(access=ACCESS, user_id="ana", place=MAIN, text="Mine.\n", base="0" * 64)
    kept = NoteVersion.objects.get(kind=ChangeKind.KEPT)
    assert results(operator) == [first]
    assert results(operator, versions="all") == [kept, first]
