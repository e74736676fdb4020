"""A person reads, searches and adds to their notes, which are files on the disk."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.core.domain.scope import system_access
from apps.notes.domain.places import daily_place
from apps.notes.files.owner import folder_of
from apps.notes.models import NoteVersion
from apps.notes.services import daily_append, main_append
from tests.integration.webui.person import ANA, BEN

pytestmark = pytest.mark.django_db

KITCHEN = system_access("key:kitchen")
NOTES, SEARCH, TODAY = reverse("webui:notes"), reverse("webui:notes_search"), reverse("webui:notes_today")
READ_MAIN = reverse("webui:note", args=["MEMORY.md"])


def write(person: str, text: str | bytes, name: str = "MEMORY.md") -> Path:
    """Write a note as an editor does, behind the page."""
    folder_of(person).create()
    path = folder_of(person).path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def on_disk(person: str, name: str = "MEMORY.md") -> str:
    return (folder_of(person).path / name).read_bytes().decode()


def page(browser: Client, url: str) -> str:
    answer = browser.get(url)
    assert answer.status_code == 200, url
    return answer.content.decode()


def test_without_notes_the_page_says_what_belongs_there(ana: Client) -> None:
    shown = page(ana, NOTES)
    assert "Nothing here yet. Write down what your assistants should always remember" in shown
    assert "No log yet." in shown
    assert "This note is empty." in page(ana, READ_MAIN)
    assert "The log of this day is empty." in page(ana, reverse("webui:note", args=["daily/2026-03-04.md"]))
    assert ana.get(reverse("webui:note", args=["plans.md"])).status_code == 404


def test_logs_are_listed_by_day_with_the_latest_first(ana: Client) -> None:
    for day in range(1, 29):
        write(ANA, "- tea\n", f"daily/2026-02-{day:02}.md")
        write(ANA, "- tea\n", f"daily/2026-03-{day:02}.md")
    shown = page(ana, NOTES)
    assert shown.index("March 28, 2026") < shown.index("March 1, 2026") < shown.index("Feb. 28, 2026")
    assert "Feb. 1, 2026" not in shown
    assert "Show the logs of all 56 days" in shown
    assert "Feb. 1, 2026" in page(ana, f"{NOTES}?days=all")


def test_a_note_is_shown_as_it_is_on_the_disk_now(ana: Client) -> None:
    write(ANA, "# About me\n\n- **Ana** likes figs\n")
    shown = page(ana, READ_MAIN)
    assert "<h2>About me</h2>" in shown
    assert "<strong>Ana</strong> likes figs" in shown
    assert "An editor on the disk" in shown
    assert "- **Ana** likes figs" in page(ana, f"{READ_MAIN}?as=text")
    main_append(access=KITCHEN, user_id=ANA, entry="Ana likes tea")
    assert "<li>Ana likes tea</li>" in page(ana, READ_MAIN)
    assert "kitchen" in page(ana, NOTES)


@pytest.mark.parametrize("bad", [b"caf\xe9\n", b"a\0b\n", "wide".encode("utf-16")])
def test_a_file_that_a_browser_cannot_hold_is_not_edited(ana: Client, bad: bytes) -> None:
    path = write(ANA, bad)
    url = reverse("webui:note_edit", args=["MEMORY.md"])
    assert "The file is not in UTF-8" in page(ana, READ_MAIN)
    shown = page(ana, url)
    assert "edit it only on the disk" in shown
    assert "<textarea" not in shown
    assert path.read_bytes() == bad


def test_a_file_that_cannot_be_read_says_why(ana: Client) -> None:
    write(ANA, "")
    (folder_of(ANA).path / "MEMORY.md").unlink()
    (folder_of(ANA).path / "MEMORY.md").mkdir()
    for url in (NOTES, READ_MAIN, reverse("webui:note_edit", args=["MEMORY.md"])):
        assert "not a file. Links are not followed" in page(ana, url)


def test_an_entry_is_added_to_the_log_of_today(ana: Client) -> None:
    day = daily_place(datetime.now(UTC).date())
    shown = ana.post(TODAY, {"entry": "Tea with Ben"}, follow=True).content.decode()
    assert "Added to today’s log." in shown
    assert on_disk(ANA, str(day)).endswith(" Tea with Ben\n")
    assert NoteVersion.objects.get(place=str(day)).author == "person:ana"
    before = on_disk(ANA, str(day))
    assert "This field is required" in ana.post(TODAY, {"entry": "  "}).content.decode()
    assert on_disk(ANA, str(day)) == before


def test_today_is_the_day_of_the_person(ana: Client) -> None:
    with timezone.override("Pacific/Kiritimati"):
        there = timezone.localdate()
        ana.post(TODAY, {"entry": "Tea"})
        assert "Tea" in on_disk(ANA, str(daily_place(there)))


def test_a_search_finds_what_is_on_the_disk_now(ana: Client) -> None:
    write(ANA, "# Plans\n\n- Ana learns the accordion\n")
    daily_append(access=KITCHEN, user_id=ANA, entry="The accordion was repaired")
    shown = ana.post(SEARCH, {"words": "accordion"}).content.decode()
    assert "Found in 2 places" in shown
    assert "Ana learns the accordion" in shown
    assert "Plans" in shown
    write(ANA, "# Plans\n\n- Ana learns the trumpet\n")
    assert "Found in 1 place<" in ana.post(SEARCH, {"words": "accordion"}).content.decode()
    assert "Your notes say nothing" in ana.post(SEARCH, {"words": "zebra"}).content.decode()
    assert "accordion" not in page(ana, f"{SEARCH}?words=accordion")


@pytest.mark.parametrize(
    "path",
    ["../ben/MEMORY.md", "users/ben/MEMORY.md", "memory-config.json", "daily", "a/../MEMORY.md", ".hidden.md", "x.png"],
)
def test_only_notes_have_pages(ana: Client, path: str) -> None:
    write(BEN, "- Ben's secret\n")
    for name in ("note", "note_edit", "note_versions"):
        answer = ana.get(f"/notes/{ {'note': 'read', 'note_edit': 'edit', 'note_versions': 'versions'}[name] }/{path}/")
        assert answer.status_code == 404, name
        assert "secret" not in answer.content.decode()


def test_nothing_of_another_persons_notes_is_shown_or_changed(ana: Client) -> None:
    main_append(access=KITCHEN, user_id=BEN, entry="quinceother one")
    main_append(access=KITCHEN, user_id=BEN, entry="quinceother two")
    daily_append(access=KITCHEN, user_id=BEN, entry="quinceother three")
    before = on_disk(BEN)
    versions = NoteVersion.objects.filter(user_id=BEN)
    assert versions.count() == 3
    for version in versions:
        for name in ("note_version", "note_restore"):
            url = reverse(f"webui:{name}", args=[version.uuid])
            assert ana.get(url).status_code in {404, 405}
            assert ana.post(url).status_code == 404
        for url in (NOTES, READ_MAIN, reverse("webui:note", args=[version.place])):
            shown = page(ana, f"{url}?undo={version.uuid}")
            assert "quinceother" not in shown
            assert str(version.uuid) not in shown
        url = reverse("webui:note_edit", args=[version.place])
        answer = ana.post(url, {"text": "mine", "base": version.sha256})
        assert "quinceother" not in answer.content.decode()
    found = ana.post(SEARCH, {"words": "quinceother"}).content.decode()
    assert "Found in 0 places" in found
    assert "quinceother one" not in found
    assert ana.get(reverse("webui:note_versions", args=["MEMORY.md"])).content.decode().count("quinceother") == 0
    assert on_disk(BEN) == before
    assert NoteVersion.objects.filter(user_id=BEN).count() == 3
