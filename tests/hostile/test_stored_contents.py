"""Nothing stored runs, becomes a part of a page, or hides on it: every page of a hub that is full of hostile texts."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client
from django.urls import get_resolver, reverse

from apps.accounts.services import person_create
from apps.cockpit.table import PAGES
from apps.core.domain.scope import Scope
from apps.people.models import Erasure
from apps.semantic.models import Conflict, Memory
from tests.api import MEMORIES, api_for, whole
from tests.emptying import rolled_back
from tests.hostile.contents import MARKER, TEMPLATES, UNDECODABLE, UNSTORABLE_JSON, contents_of
from tests.hostile.filled import fill_hub
from tests.hostile.pages import PageRead
from tests.integration.accounts.test_bounds import concrete, names_below

# The hub is filled in a transaction around those of the tests.
pytestmark = pytest.mark.django_db
# A page of a list shows some rows of some hundred characters each, and an object its texts in part.
MAX_PAGE_BYTES = 1_500_000
MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)
NAMES = [model._meta.label for model in MODELS]
# Pages of objects are opened for these kinds: a tag, the end of an attribute, unseen characters.
OPENED = ("script", "Alpine out of quotes", "controls")
NUMBERS = [list(TEMPLATES).index(kind) for kind in OPENED]


# Lists of what has no text of people.
NO_TEXTS = {"django_q.OrmQ", "llm.BudgetDay", "semantic.Judge"}


HTML = [page for page in PAGES if not page.name.endswith("_csv")]


class Filled:
    """A hub full of hostile texts, and browsers of its operator and of the person `ana`."""

    def __init__(self) -> None:
        self.taken = fill_hub()
        self.operator, self.ana = Client(), Client()
        self.operator.force_login(User.objects.create_superuser("operator"))
        self.ana.force_login(person_create(username="ana-signs-in", person_id="ana"))


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The directories of the hub, for all tests here."""
    root = tmp_path_factory.mktemp("filled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "TIMELINE_DIR", root / "timeline")
        for name in ("NOTES_DIR", "NOTES_INDEX_DIR", "NOTES_LOCKS_DIR"):
            patch.setattr(settings, name, root / name.lower())
        yield root


@pytest.fixture
def notes_dir(places: Path) -> Path:
    """The notes of the hub that is filled once, instead of a test's own."""
    return places / "notes_dir"


@pytest.fixture(scope="module")
def filled(places: Path, django_db_setup: None, django_db_blocker: Any) -> Iterator[Filled]:
    """A hub that is filled once; what tests change in it is taken back after the last one."""
    with django_db_blocker.unblock(), rolled_back():
        yield Filled()


def read(client: Client, url: str, **query: str) -> PageRead:
    """Read a page, and hold against it what came of the texts on it."""
    answer = client.get(url, query)
    assert answer.status_code < 500, url
    text = (whole(answer) if answer.streaming else answer).content.decode()
    page = PageRead(text)
    assert page.made == [], url
    assert page.unseen == [], url
    assert len(text) < MAX_PAGE_BYTES, (url, len(text))
    return page


def test_texts_are_many_and_different() -> None:
    texts = [one.text for one in contents_of("x")]
    assert len(texts) == len(set(texts)) >= 60
    assert all(MARKER.search(text) for text in texts)


def test_a_part_that_a_text_made_is_found() -> None:
    """A page that escapes nothing is made of each text with markup, but of those that make no element."""
    marked = [one for one in contents_of("x") if re.search(r"<[a-zA-Z/!]", one.text)]
    missed = {one.kind for one in marked if not PageRead(f"<p>{one.text}</p>").made}
    assert len(marked) > 40
    assert missed == {"script in script", "script after noscript", "comment in a script", "CSS expression"}
    quoted = {"double quotes", "end of an attribute", "Alpine out of quotes", "htmx out of quotes"}
    assert quoted <= {one.kind for one in contents_of("x") if PageRead(f'<p title="{one.text}">x</p>').made}
    assert PageRead('<a href="java\tscript:1">x</a>').made
    assert PageRead('<p class="zqx1qz">x</p>').made
    assert PageRead("<p title='x'>a\u202eb</p>").unseen


def test_doors_take_what_is_text_and_refuse_what_names_something(filled: Filled) -> None:
    count = len(TEMPLATES)
    assert {filled.taken[door] for door in ("memory", "events", "message")} == {count}
    assert filled.taken["type of an event"] <= 1
    assert filled.taken["location of a source"] == 0


@pytest.mark.parametrize("body", UNSTORABLE_JSON)
def test_what_is_no_text_is_refused(filled: Filled, body: str) -> None:
    api = api_for(Scope("ana"))
    assert api.post(MEMORIES, f'{{"content": {body}}}').status_code == 400


@pytest.mark.parametrize("data", UNDECODABLE)
def test_what_is_no_utf8_is_refused(filled: Filled, data: bytes) -> None:
    assert api_for(Scope("ana")).post(MEMORIES, b'{"content": "' + data + b'"}').status_code == 400


def routes_of(model: type[Model], row: Any) -> list[str]:
    """The addresses of every page of an object, in the admin."""
    meta = model._meta
    start = f"admin/{meta.app_label}/{meta.model_name}/<"
    keys = {"object_id": str(row.pk), "pk": str(row.pk), "uuid": str(getattr(row, "uuid", ""))}
    return [concrete(path, keys) for path, _ in names_below(get_resolver().url_patterns) if path.startswith(start)]


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_lists_and_objects_show_texts_as_text(filled: Filled, plain_refusals: None, model: type[Model]) -> None:
    shown = set(
        read(filled.operator, reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")).shown
    )
    rows = list(model._default_manager.order_by("pk"))
    for row in [rows[number] for number in NUMBERS if number < len(rows)]:
        for url in routes_of(model, row):
            shown |= read(filled.operator, url).shown
    assert shown or model._meta.label in NO_TEXTS


@pytest.mark.parametrize("page", HTML, ids=[page.name for page in HTML])
def test_pages_of_the_cockpit_show_texts_as_text(filled: Filled, page: Any) -> None:
    keys: dict[str, list[Any]] = {"<int:key>": list(Conflict.objects.values_list("pk", flat=True)),
                                  "<uuid:uuid>": list(Erasure.objects.values_list("uuid", flat=True))}  # fmt: skip
    part = next((part for part in keys if part in page.path), "")
    for number in NUMBERS if part else [0]:
        read(filled.operator, f"/admin/{page.path.replace(part, str(keys[part][number])) if part else page.path}")


@pytest.mark.parametrize("name", ["cockpit_person", "cockpit_person_forget", "cockpit_people"])
def test_people_of_any_name_are_shown_as_text(filled: Filled, name: str) -> None:
    for user_id in Memory.objects.order_by("user_id").values_list("user_id", flat=True).distinct():
        page = read(filled.operator, reverse(name), user_id=user_id, q=user_id[:10])
        assert page.shown or user_id == "ana" or name == "cockpit_people"


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        ("cockpit_ask", "question"),
        ("cockpit_palette", "q"),
        ("cockpit_activity", "actor"),
        ("cockpit_decisions", "rule"),
        ("cockpit_audit", "q"),
        ("admin:semantic_memory_changelist", "q"),
        ("admin:episodic_timelineevent_changelist", "q"),
        ("admin:sync_knowledgeitem_changelist", "q"),
        ("admin:login", "next"),
    ],
)
def test_what_is_asked_is_shown_as_text(filled: Filled, name: str, parameter: str) -> None:
    for one in [contents_of("asked")[number] for number in NUMBERS]:
        read(filled.operator, reverse(name), **{parameter: one.text})


def test_pages_of_a_person_show_texts_as_text(filled: Filled) -> None:
    shown = set(read(filled.ana, reverse("webui:home")).shown)
    memories = {memory.content: memory for memory in Memory.objects.filter(user_id="ana")}
    for one in contents_of("door"):
        if memory := memories.get(one.text):
            page = read(filled.ana, reverse("webui:memory", args=[memory.uuid]))
            assert one.marker in page.shown
            shown |= page.shown
    assert len(shown) > len(TEMPLATES) * 0.9
    for number in NUMBERS:
        answer = filled.ana.post(reverse("webui:ask"), {"question": contents_of("door")[number].text})
        page = PageRead(answer.content.decode())
        assert (page.made, page.unseen) == ([], [])


@pytest.mark.parametrize(
    "path", ["/{}", "/admin/{}/", "/admin/semantic/memory/{}/change/", "/memories/{}", "/accounts/{}/"]
)
def test_pages_of_errors_show_no_text(filled: Filled, path: str) -> None:
    for one in contents_of("path")[::5]:
        answer = filled.operator.get(path.format(one.text), follow=True)
        page = PageRead(answer.content.decode())
        assert (page.made, page.unseen) == ([], []), one.kind
        assert "zqpath" not in str(answer.headers.get("Set-Cookie", ""))


def test_cells_of_an_export_are_no_formulas(filled: Filled) -> None:
    answer = filled.operator.get(reverse("cockpit_audit_csv"))
    rows = list(csv.reader(io.StringIO(whole(answer).content.decode(), newline="")))
    assert len(rows) > len(TEMPLATES)
    assert {len(row) for row in rows} == {len(rows[0])}
    assert [cell for row in rows for cell in row if cell.lstrip().startswith(("=", "+", "-", "@"))] == []


@pytest.mark.parametrize("number", NUMBERS)
def test_names_of_files_and_headers_hold_one_line(filled: Filled, number: int) -> None:
    answer = filled.operator.get(reverse("cockpit_person_export"), {"user_id": contents_of("door")[number].text[:200]})
    assert answer.status_code < 500
    assert not any("\r" in value or "\n" in value for value in answer.headers.values())
