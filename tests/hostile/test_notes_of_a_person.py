"""Hostile Markdown in notes: elements of Markdown only where it is rendered, and text everywhere else."""

import json
import re
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.services import person_create
from apps.core.domain.scope import system_access
from apps.notes.domain.places import MAIN
from apps.notes.files.owner import folder_of
from apps.notes.models import Compaction, NoteVersion
from apps.notes.selectors import note_get
from tests.caches import empty_caches as empty_caches
from tests.caches import notes_dir as notes_dir
from tests.hostile.contents import Hostile, contents_of
from tests.hostile.pages import PageRead
from tests.integration.webui.person import taken_back
from tests.unit.webui.test_markdown import check

pytestmark = pytest.mark.django_db

TEXTS = [one for one in contents_of("note") if "\0" not in one.text]
# The texts in parts, since what a part needs is made once. Where all is escaped by the template, some are enough.
EACH = pytest.mark.parametrize("texts", [TEXTS[number::6] for number in range(6)], ids=range(6))
SOME = pytest.mark.parametrize("texts", [TEXTS[number::8] for number in (0, 4)], ids=range(2))
READ, EDIT, VERSIONS = (reverse(f"webui:{name}", args=["MEMORY.md"]) for name in ("note", "note_edit", "note_versions"))
SETTINGS = reverse("webui:memory_settings")
ARTICLE, END = '<article class="card note" dir="auto">', "</article>"
PREVIEW, PREVIEW_END = 'aria-labelledby="preview-title">', "</section>"


@pytest.fixture
def ana(db: None) -> Client:
    client = Client()
    client.force_login(person_create(username="ana-signs-in", person_id="ana"))
    return client


def keep(one: Hostile, before: str = "") -> None:
    """Write a text as the whole of MEMORY.md, and as an item of a list, a heading and a cell."""
    folder_of("ana").create()
    line = " ".join(one.text.split())
    text = f"{before}{one.text}\n\n- {line}\n\n# {line}\n\n|{line}|\n|-|\n|{line}|\n"
    folder_of("ana").path.joinpath("MEMORY.md").write_bytes(text.encode())


def unmarked(html: str) -> str:
    """Return HTML without the marks of unseen characters, which every page of the hub has."""
    return re.sub(r'<span class="mh-(?:unseen|mixed)" title="[^"<>]*">|</span>|</?bdi>', "", html)


def read(page: str, begin: str = "", end: str = "") -> PageRead:
    """Read a page; of its part that is rendered Markdown, hold against it what Markdown may make."""
    if begin:
        ahead, _, rest = page.partition(begin)
        rendered, _, behind = rest.partition(end)
        assert rendered
        check(unmarked(rendered))
        page = ahead + behind
    found = PageRead(page)
    assert (found.made, found.unseen) == ([], [])
    return found


@EACH
def test_a_rendered_note_makes_elements_of_markdown_only(ana: Client, texts: list[Hostile]) -> None:
    for one in texts:
        with taken_back(one.kind):
            assert_rendered_as_markdown(ana, one)


def assert_rendered_as_markdown(ana: Client, one: Hostile) -> None:
    """Hold against a note what Markdown may make, on each page that renders it."""
    keep(one)
    shown = ana.get(READ).content.decode()
    read(shown, ARTICLE, END)
    assert one.marker not in one.text or one.marker in shown
    assert one.marker in read(ana.get(f"{READ}?as=text").content.decode()).shown or one.marker not in one.text
    read(ana.get(EDIT).content.decode(), PREVIEW, PREVIEW_END)
    part = ana.post(reverse("webui:note_preview"), {"text": one.text}).content.decode()
    check(unmarked(part))


@SOME
def test_versions_and_conflicts_show_texts_as_text(ana: Client, texts: list[Hostile]) -> None:
    for one in texts:
        with taken_back(one.kind):
            assert_versions_are_text(ana, one)


def assert_versions_are_text(ana: Client, one: Hostile) -> None:
    """Keep two versions of a note, and hold against each page of them what came of the text."""
    keep(one)
    note_get(system_access("test"), "ana", MAIN)
    keep(one, "other\n\n")
    read(ana.get(VERSIONS).content.decode())
    read(ana.get(f"{VERSIONS}?from=1&to=2").content.decode())
    version = NoteVersion.objects.order_by("number").first()
    assert version is not None
    NoteVersion.objects.filter(pk=version.pk).update(author=one.text[:200])
    read(ana.get(reverse("webui:note_version", args=[version.uuid])).content.decode())
    page = read(ana.post(EDIT, {"text": f"mine {one.text}", "base": version.sha256}).content.decode())
    assert page.shown or one.marker not in one.text
    hits = ana.post(reverse("webui:notes_search"), {"words": one.text}).content.decode()
    read(hits)


@SOME
def test_settings_and_proposals_show_texts_as_text(ana: Client, texts: list[Hostile]) -> None:
    for one in texts:
        with taken_back(one.kind):
            assert_settings_are_text(ana, one)


def assert_settings_are_text(ana: Client, one: Hostile) -> None:
    """Have settings and proposals of a text, and hold against each page of them what came of it."""
    keep(one)
    names = ("llmGatingModel", "llmExtractionModel", "llmCompactionModel")
    line = "".join(char for char in one.text if char.isprintable())[:200]
    settings = {**dict.fromkeys(names, line), "llmGatingEnabled": True, one.text: one.text}
    folder_of("ana").path.joinpath("memory-config.json").write_text(json.dumps(settings))
    facts = [{"text": one.text, "action": action, "into": one.text, "reason": one.text, "code": one.text}
             for action in ("kept", "merged", "shortened", "dropped")]  # fmt: skip
    note = note_get(system_access("test"), "ana", MAIN)
    for state in ("drafted", "applied", "failed"):
        Compaction.objects.create(
            user_id="ana", actor=one.text[:200], state=state, facts=facts, draft=zlib.compress(one.text.encode()),
            base_sha256=note.sha256, code=one.text[:200], detail=one.text[:500], created_at=datetime.now(UTC),
        )  # fmt: skip
        read(ana.get(SETTINGS).content.decode())
        read(ana.get(reverse("webui:memory_compaction")).content.decode())
    saved = ana.post(
        reverse("webui:memory_settings_save", args=["gate"]),
        {"was.llmGatingModel": "", "llmGatingModel": one.text},
        headers={"HX-Request": "true"},
    )
    read(saved.content.decode())


def names_of(texts: list[Hostile]) -> Iterator[str]:
    """Yield names of files that a folder can hold."""
    for one in texts:
        name = one.text.replace("/", "")[:40].strip(". ")
        if name and "\n" not in name and "\r" not in name:
            yield f"{name}.md"


def test_names_of_files_are_shown_as_text(ana: Client) -> None:
    folder_of("ana").create()
    for name in names_of(TEXTS):
        folder_of("ana").path.joinpath(name).write_text("- tea\n")
    page = read(ana.get(reverse("webui:notes")).content.decode())
    assert len(page.shown) > 5
