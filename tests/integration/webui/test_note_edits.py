"""A person edits a note, and neither their text nor that of anyone else is lost."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from apps.notes.domain.text import digest
from apps.notes.files.owner import folder_of
from apps.notes.models import NoteVersion
from apps.notes.selectors import MAX_NOTE_BYTES
from apps.notes.services import main_append
from tests.integration.webui.person import ANA
from tests.integration.webui.test_notes import KITCHEN, READ_MAIN, on_disk, page, write

pytestmark = pytest.mark.django_db

EDIT, VERSIONS = (reverse(f"webui:{name}", args=["MEMORY.md"]) for name in ("note_edit", "note_versions"))
TEXT = "# Memory\n\n- tea\n- figs\n"


def save(browser: Client, text: str, base: str, **more: str) -> str:
    """Post the editor as a browser does, and return the page that follows."""
    typed = text.replace("\n", "\r\n")
    answer = browser.post(EDIT, {"text": typed, "base": digest(base.encode()), **more}, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def hidden(shown: str, name: str) -> str:
    """Return the value of the first hidden field of a name on a page."""
    found = re.search(rf'name="{name}" value="([^"]*)"', shown)
    assert found is not None
    return unescape(found[1])


def merged(shown: str) -> str:
    """Return the text of the field of a page."""
    found = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", shown, re.DOTALL)
    assert found is not None
    return unescape(found[1])


def versions() -> list[tuple[str, str]]:
    return list(NoteVersion.objects.filter(place="MEMORY.md").order_by("number").values_list("kind", "author"))


def test_an_edit_is_on_the_disk_and_can_be_undone(ana: Client) -> None:
    path = write(ANA, TEXT)
    shown = page(ana, EDIT)
    assert merged(shown) == TEXT
    assert "at most 5.0" in shown
    assert hidden(shown, "base") == digest(TEXT.encode())
    shown = save(ana, TEXT + "- rice\n", TEXT)
    assert path.read_text() == TEXT + "- rice\n"
    assert versions() == [("found", "disk"), ("edit", "person:ana")]
    undo = re.search(r'action="([^"]+)" role="status"', shown)
    assert undo is not None
    ana.post(undo[1])
    assert path.read_text() == TEXT


def test_the_first_text_makes_the_file(ana: Client) -> None:
    shown = page(ana, EDIT)
    assert hidden(shown, "base") == digest(b"")
    assert "Saved." in save(ana, "- tea\n", "")
    assert on_disk(ANA) == "- tea\n"


def test_line_ends_of_the_file_stay(ana: Client) -> None:
    before = TEXT.replace("\n", "\r\n")
    path = write(ANA, before)
    page(ana, EDIT)
    save(ana, TEXT + "- rice\n", before)
    assert path.read_bytes() == before.encode() + b"- rice\r\n"


def test_a_text_that_would_end_its_field_stays_in_it(ana: Client) -> None:
    text = "- </textarea><b>tea</b> & &lt;figs&gt;\n"
    write(ANA, text)
    shown = page(ana, EDIT)
    assert merged(shown) == text
    assert "<b>" not in shown


def test_a_preview_saves_nothing_and_keeps_what_was_typed(ana: Client) -> None:
    path = write(ANA, TEXT)
    page(ana, EDIT)
    shown = save(ana, "# New\n\n*words*", TEXT, preview="1")
    assert "<h2>New</h2>" in shown
    assert "<em>words</em>" in shown
    assert merged(shown).replace("\r", "") == "# New\n\n*words*"
    assert hidden(shown, "base") == digest(TEXT.encode())
    part = ana.post(reverse("webui:note_preview"), {"text": "# New"}).content.decode()
    assert "<h2>New</h2>" in part
    assert "<html" not in part
    assert path.read_text() == TEXT
    assert len(versions()) == 1


def test_a_text_that_is_too_large_is_kept_in_the_form(ana: Client) -> None:
    path = write(ANA, TEXT)
    page(ana, EDIT)
    shown = save(ana, "x" * (MAX_NOTE_BYTES + 1), TEXT)
    assert "over the limit of 5" in shown
    assert len(merged(shown)) > MAX_NOTE_BYTES
    assert path.read_text() == TEXT


@pytest.mark.parametrize("who", ["disk", "kitchen"])
def test_what_was_changed_elsewhere_is_shown_beside_mine(ana: Client, who: str) -> None:
    path = write(ANA, TEXT)
    page(ana, EDIT)
    if who == "disk":
        path.write_text(TEXT + "- plums\n")
    else:
        main_append(access=KITCHEN, user_id=ANA, entry="plums")
    shown = save(ana, TEXT.replace("tea", "green tea"), TEXT)
    assert "MEMORY.md was changed elsewhere" in shown
    assert ("An editor on the disk" if who == "disk" else "kitchen") in shown
    assert path.read_text() == TEXT + "- plums\n"
    assert hidden(shown, "text").replace("\r", "") == TEXT.replace("tea", "green tea")
    assert merged(shown) == TEXT.replace("tea", "green tea") + "- plums\n"
    assert "1 line added (+)" in shown
    assert "2 lines removed" in shown
    assert versions()[-1] == ("kept", "person:ana")
    assert hidden(shown, "base") == digest(path.read_bytes())


@pytest.mark.parametrize("choice", ["mine", "theirs", "both"])
def test_each_choice_of_a_conflict_keeps_all_texts_as_versions(ana: Client, choice: str) -> None:
    path = write(ANA, TEXT)
    page(ana, EDIT)
    path.write_text(TEXT + "- plums\n")
    mine = TEXT + "- nuts\n"
    shown = save(ana, mine, TEXT)
    assert "In 1 place, both sides changed the same lines" in shown
    texts = {"mine": mine, "theirs": TEXT + "- plums\n", "both": TEXT + "- plums\n- nuts\n"}
    if choice != "theirs":
        typed = hidden(shown, "text") if choice == "mine" else merged(shown)
        ana.post(EDIT, {"text": typed, "base": hidden(shown, "base"), "back": "note"})
    assert path.read_text() == texts[choice]
    kept = {digest(text.encode()) for text in (TEXT, mine, texts["theirs"])}
    assert kept <= set(NoteVersion.objects.values_list("sha256", flat=True))


def test_a_second_change_elsewhere_is_a_second_conflict(ana: Client) -> None:
    path = write(ANA, TEXT)
    page(ana, EDIT)
    path.write_text("one\n")
    shown = save(ana, "mine\n", TEXT)
    path.write_text("two\n")
    shown = save(ana, "mine\n", "one\n")
    assert "was changed elsewhere" in shown
    assert path.read_text() == "two\n"
    assert "two" in merged(shown)
    assert "mine" in merged(shown)


def test_a_file_that_is_gone_is_no_reason_to_lose_a_text(ana: Client) -> None:
    path = write(ANA, TEXT)
    page(ana, EDIT)
    path.unlink()
    shown = save(ana, TEXT + "- rice\n", TEXT)
    assert "The note is empty or gone." in shown
    assert not path.exists()
    ana.post(EDIT, {"text": hidden(shown, "text"), "base": hidden(shown, "base")})
    assert path.read_text() == TEXT + "- rice\n"


def test_a_form_without_its_base_saves_nothing(ana: Client) -> None:
    path = write(ANA, TEXT)
    for base in ("", "x", "0" * 63):
        shown = ana.post(EDIT, {"text": "mine", "base": base}).content.decode()
        assert "the hub does not know which text you had opened" in shown
        assert "mine" in merged(shown)
    assert path.read_text() == TEXT


def test_versions_say_who_and_when_and_two_are_compared(ana: Client) -> None:
    path = write(ANA, TEXT)
    main_append(access=KITCHEN, user_id=ANA, entry="plums")
    page(ana, EDIT)
    save(ana, "# Memory\n\n- tea\n", path.read_text())
    shown = page(ana, VERSIONS)
    assert shown.index("3 · Edited") < shown.index("2 · Added to") < shown.index("1 · Changed on the disk")
    for who in ("You", "kitchen", "An editor on the disk"):
        assert f"<bdi>{who}</bdi>" in shown
    shown = page(ana, f"{VERSIONS}?from=3&to=1")
    assert "From version 1 to version 3" in shown
    assert '<span class="diff-removed">−- figs</span>' in shown
    assert "1 line removed" in shown
    for missing in ("?from=1&to=99", "?from=x&to=1"):
        assert "From version" not in page(ana, VERSIONS + missing)
    assert "One of these versions does not exist." in page(ana, f"{VERSIONS}?from=1&to=99")


def test_an_older_version_is_brought_back_and_that_is_undone(ana: Client) -> None:
    path = write(ANA, TEXT)
    page(ana, EDIT)
    save(ana, "- nothing\n", TEXT)
    first = NoteVersion.objects.get(number=1)
    shown = page(ana, reverse("webui:note_version", args=[first.uuid]))
    assert "- figs" in shown
    assert "Restore this version" in shown
    restore = reverse("webui:note_restore", args=[first.uuid])
    shown = ana.post(restore, follow=True).content.decode()
    assert path.read_text() == TEXT
    undo = re.search(r'action="([^"]+)" role="status"', shown)
    assert undo is not None
    ana.post(undo[1])
    assert path.read_text() == "- nothing\n"
    assert "It was already like this." in ana.post(undo[1], follow=True).content.decode()


def test_many_versions_come_in_pages(ana: Client) -> None:
    write(ANA, TEXT)
    for number in range(60):
        main_append(access=KITCHEN, user_id=ANA, entry=f"fact {number}")
    shown = page(ana, VERSIONS)
    assert shown.count('name="from"') == 50
    older = page(ana, f"{VERSIONS}?before=12")
    assert older.count('name="from"') == 11
    assert "?before=12" in shown


def test_a_deletion_has_no_text_to_bring_back(ana: Client) -> None:
    write(ANA, TEXT)
    main_append(access=KITCHEN, user_id=ANA, entry="plums")
    NoteVersion.objects.filter(number=2).update(kind="delete", at=datetime.now(UTC) - timedelta(days=1))
    version = NoteVersion.objects.get(number=2)
    shown = page(ana, reverse("webui:note_version", args=[version.uuid]))
    assert "Restore this version" not in shown
    answer = ana.post(reverse("webui:note_restore", args=[version.uuid]), follow=True).content.decode()
    assert "This version is a deletion" in answer


def test_versions_of_the_settings_are_no_notes(ana: Client) -> None:
    folder_of(ANA).create()
    row = NoteVersion.objects.create(
        user_id=ANA, place="memory-config.json", number=1, kind="edit", sha256="0" * 64, size=2, text=b"", author="x",
        at=datetime.now(UTC),
    )  # fmt: skip
    assert ana.get(reverse("webui:note_version", args=[row.uuid])).status_code == 404
    assert str(row.uuid) not in page(ana, f"{READ_MAIN}?undo={row.uuid}")
