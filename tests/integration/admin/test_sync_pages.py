"""Pages of knowledge sync in the admin: sources, runs, items and conflicts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.semantic.models import Memory
from apps.sync.domain.state import Resolution
from apps.sync.models import KnowledgeItem, KnowledgeSource, PointerConflict, SyncKind, SyncRun, SyncRunState
from tests.integration.admin.knowledge import BROKEN, OWNER, item, make_conflict, make_source, sync, write
from tests.integration.admin.knowledge import folder as folder
from tests.integration.admin.pages import address, run, text_of

pytestmark = pytest.mark.django_db
SOURCES, RUNS = "/admin/sync/knowledgesource/", "/admin/sync/syncrun/"
ITEMS, CONFLICTS = "/admin/sync/knowledgeitem/", "/admin/sync/pointerconflict/"
SUBMITTED = {"_form_submitted": "True"}


@pytest.fixture
def source(folder: Path) -> KnowledgeSource:
    """A source that was synced, with a file that could not be read."""
    source = make_source(folder)
    write(folder, "adr/0004-broken.md", BROKEN)
    sync(source)
    return source


def page(one: Any) -> str:
    return address(type(one), "change", one.pk)


def form_of(client: Client, source: KnowledgeSource | None = None, **changed: Any) -> dict[str, Any]:
    """What the form of a source sends, with some fields changed."""
    url = page(source) if source else address(KnowledgeSource, "add")
    response: Any = client.get(url)
    form = response.context["adminform"].form
    values = {name: form[name].value() for name in form.fields}
    return {name: value for name, value in (values | changed).items() if value not in {None, False}}


# Sources


def test_a_source_is_added_with_its_settings(operator: Client, folder: Path) -> None:
    values = form_of(
        operator,
        name="platform",
        user_id=OWNER,
        kind="folder",
        location=str(folder),
        include="adr/**\n*.md",
        staleness_seconds="1d 12h",
        resolution_orphaned_pointer="manual",
    )
    response = operator.post(address(KnowledgeSource, "add"), values, follow=True)
    source = KnowledgeSource.objects.get()
    assert (source.user_id, source.include, source.staleness_seconds) == (OWNER, ["adr/**", "*.md"], 36 * 3600)
    assert (source.resolutions, source.created_by) == ({"orphaned_pointer": "manual"}, "admin:operator")
    assert "Nothing has been synced yet" in response.content.decode()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"name": "a/b"}, "Use letters, digits, spaces"),
        ({"location": "http://ana:secret@example.org/x.git", "kind": "git"}, "Name a secret in"),
        ({"folder": "../up"}, "Name a folder inside the source"),
        ({"staleness_seconds": "soon"}, "such as 6h"),
        ({"credentials": "../x"}, "letters, digits"),
    ],
)
def test_what_is_refused_is_said_beside_its_field(
    operator: Client, folder: Path, changed: dict[str, str], words: str
) -> None:
    values = form_of(operator, name="platform", user_id=OWNER, kind="folder", location=str(folder))
    response: Any = operator.post(address(KnowledgeSource, "add"), values | changed)
    errors = response.context["adminform"].form.errors
    assert list(errors) == [next(iter(changed))]
    assert words in str(errors)
    assert not KnowledgeSource.objects.exists()


def test_a_source_is_changed_but_for_owner_and_kind(operator: Client, source: KnowledgeSource) -> None:
    values = form_of(operator, source, branch="main", session_threshold="5", user_id="ben", resolution_status_change="")
    assert operator.post(page(source), values).status_code == 302
    source.refresh_from_db()
    assert (source.branch, source.session_threshold, source.user_id) == ("main", 5, OWNER)


def test_the_list_says_what_to_look_at(operator: Client, source: KnowledgeSource) -> None:
    text = text_of(operator, SOURCES)
    assert "Some files not read" in text
    assert "1 file not read" in text
    assert "on request" in text


def test_the_page_of_a_source_says_which_files_could_not_be_read(operator: Client, source: KnowledgeSource) -> None:
    text = text_of(operator, page(source))
    assert "adr/0004-broken.md" in text
    assert "Roll back to it" in text


def test_pausing_keeps_its_reason_and_resuming_ends_it(operator: Client, source: KnowledgeSource) -> None:
    operator.post(address(KnowledgeSource, "pause_this", source.pk), {**SUBMITTED, "reason": "The <i>move</i>"})
    assert "The &lt;i&gt;move&lt;/i&gt;" in text_of(operator, SOURCES)
    assert "pause_this" not in text_of(operator, page(source))
    operator.post(address(KnowledgeSource, "resume_this", source.pk), SUBMITTED)
    source.refresh_from_db()
    assert source.paused == ""


@pytest.mark.parametrize(("step", "kind"), [("sync_this", "incremental"), ("sync_all_of_this", "full")])
def test_a_sync_is_requested_and_its_run_shown(operator: Client, folder: Path, step: str, kind: str) -> None:
    source = make_source(folder)
    response = operator.post(address(KnowledgeSource, step, source.pk), SUBMITTED)
    waiting = SyncRun.objects.get()
    assert (waiting.kind, waiting.state, waiting.actor) == (kind, "waiting", "admin:operator")
    assert response.headers["Location"] == page(waiting)
    assert 'hx-trigger="every 2s"' in text_of(operator, page(waiting))


def test_syncs_of_several_sources_are_requested(operator: Client, folder: Path) -> None:
    sources = [make_source(folder), make_source(folder, name="second", enabled=False)]
    text = run(operator, "sync_chosen", sources).content.decode()
    assert "1 sync requested" in text
    assert "second: This source is switched off." in text


def test_deleting_says_what_it_takes_along(operator: Client, source: KnowledgeSource) -> None:
    url = address(KnowledgeSource, "delete", source.pk)
    assert f"3 pointers of {OWNER} can no longer be found" in text_of(operator, url)
    operator.post(url, {"post": "yes"})
    assert not KnowledgeSource.objects.exists()
    assert not Memory.objects.active().exists()


def test_a_dry_run_says_what_each_file_would_become(operator: Client, folder: Path) -> None:
    source = make_source(folder)
    write(folder, "adr/0004-broken.md", BROKEN)
    write(folder, "adr/README.md", "# About these decisions\n\nText.\n")
    url = address(KnowledgeSource, "dry_run", source.pk)
    assert 'hx-trigger="load"' in text_of(operator, url)
    text = text_of(operator, url, result="1")
    assert "Use &lt;b&gt;SQLite&lt;/b&gt; at the edge" in text
    assert "adr/0004-broken.md" in text
    assert "1 constraint" in text
    assert "Files that are not items" in text
    assert not KnowledgeItem.objects.exists()


def test_a_dry_run_of_what_cannot_be_reached_says_why(operator: Client, folder: Path) -> None:
    source = make_source(folder, location=str(folder / "gone"))
    text = text_of(operator, address(KnowledgeSource, "dry_run", source.pk), result="1")
    assert "There is nothing to read at the path of the source" in text


# Runs


def test_the_page_of_a_run_shows_what_it_changed(operator: Client, source: KnowledgeSource, folder: Path) -> None:
    write(folder, "adr/0003-use-files.md", "---\nid: ADR-0003\ntype: adr\ntitle: Use <i>files</i>\n---\nText.\n")
    (folder / "adr/0001-use-postgresql.md").unlink()
    text = text_of(operator, page(sync(source)))
    assert "<ins>Use &lt;i&gt;files&lt;/i&gt;</ins>" in text
    assert "<del>Use files at the edge</del>" in text
    assert "ADR-0001" in text
    assert "adr/0004-broken.md" in text


def test_a_run_that_has_ended_makes_its_page_load_again(operator: Client, source: KnowledgeSource) -> None:
    response = operator.get(page(SyncRun.objects.get()), headers={"HX-Request": "true"})
    assert response.headers["HX-Refresh"] == "true"


def test_a_page_of_changes_is_as_long_as_any(operator: Client, source: KnowledgeSource, folder: Path) -> None:
    for number in range(60):
        write(folder, f"specs/{number:03}.md", f"# Note {number}\n\nText.\n")
    done = sync(source)
    assert "Page 1 of 2" in text_of(operator, page(done))
    assert "Page 2 of 2" in text_of(operator, page(done), page="2")


def test_a_run_is_rolled_back_after_a_question(operator: Client, source: KnowledgeSource, folder: Path) -> None:
    (folder / "adr/0001-use-postgresql.md").unlink()
    write(folder, "adr/0005-use-tea.md", "---\nid: ADR-0005\ntitle: Use tea\n---\nText.\n")
    done = sync(source)
    url = address(SyncRun, "roll_back", done.pk)
    text = text_of(operator, url)
    assert "1 item created since then will be removed" in text
    assert "1 item deleted since then will come back" in text
    response = operator.post(url)
    made = SyncRun.objects.get(kind=SyncKind.ROLLBACK)
    assert response.headers["Location"] == page(made)
    assert sorted(KnowledgeItem.objects.values_list("item_id", flat=True)) == ["ADR-0001", "ADR-0002", "ADR-0003"]
    source.refresh_from_db()
    assert source.paused


def test_a_run_without_checkpoint_has_no_way_back(operator: Client, folder: Path) -> None:
    source = make_source(folder)
    operator.post(address(KnowledgeSource, "sync_this", source.pk), SUBMITTED)
    waiting = SyncRun.objects.get()
    assert "roll-back" not in text_of(operator, page(waiting))
    assert operator.get(address(SyncRun, "roll_back", waiting.pk)).status_code == 404


# Items


def results(client: Client, url: str, **query: Any) -> list[Any]:
    response: Any = client.get(url, query)
    assert response.status_code == 200
    return list(response.context["cl"].result_list)


def test_items_are_found_by_words_filters_and_pointer(operator: Client, source: KnowledgeSource) -> None:
    first, second, third = (item(source, f"ADR-000{number}") for number in (1, 2, 3))
    assert results(operator, ITEMS) == [first, second, third]
    assert results(operator, ITEMS, q="edge sqlite") == [second]
    assert results(operator, ITEMS, q=str(first.pointer)) == [first]
    assert results(operator, ITEMS, layer__exact="company") == [first]
    assert results(operator, ITEMS, status__exact="superseded", source__id__exact=source.pk) == [third]
    assert results(operator, ITEMS, source__user_id="ben") == []


def test_the_page_of_an_item_leads_to_pointer_text_and_neighbours(operator: Client, source: KnowledgeSource) -> None:
    old, new = item(source, "ADR-0003"), item(source, "ADR-0002")
    text = text_of(operator, page(old))
    assert f'Superseded by <a class="mh-link" href="{page(new)}">' in text
    assert page(Memory.objects.get(uuid=old.pointer)) in text
    assert "Devices keep their data in files." in text
    assert "Use &lt;b&gt;SQLite&lt;/b&gt;" in text_of(operator, page(new))


def test_an_item_is_synced_from_its_page(operator: Client, source: KnowledgeSource) -> None:
    operator.post(address(KnowledgeItem, "sync_this", item(source, "ADR-0001").pk), SUBMITTED)
    waiting = SyncRun.objects.get(state=SyncRunState.WAITING)
    assert (waiting.kind, waiting.item_id) == (SyncKind.SINGLE, "ADR-0001")


def test_a_folder_has_no_commits_to_compare(operator: Client, source: KnowledgeSource) -> None:
    text = text_of(operator, address(KnowledgeItem, "compare", item(source, "ADR-0001").pk))
    assert "A folder keeps no history" in text


# Conflicts


@pytest.fixture
def conflict(folder: Path) -> PointerConflict:
    """A pointer whose item is gone, which waits for a person."""
    return make_conflict(folder)


def test_the_page_of_a_conflict_shows_both_sides(operator: Client, conflict: PointerConflict) -> None:
    text = text_of(operator, page(conflict))
    assert "the item it was made from is gone" in text
    assert "[ADR] Use PostgreSQL" in text
    assert address(PointerConflict, "delete_this", conflict.pk) in text
    assert address(PointerConflict, "update_this", conflict.pk) not in text
    assert "1" in text_of(operator, reverse("admin:index"))


@pytest.mark.parametrize(("step", "is_found"), [("delete_this", False), ("keep_this", True)])
def test_a_conflict_is_resolved_after_its_consequences(
    operator: Client, conflict: PointerConflict, step: str, is_found: bool
) -> None:
    url = address(PointerConflict, step, conflict.pk)
    assert ("no longer find it" if step == "delete_this" else "stays as it is") in text_of(operator, url)
    operator.post(url, SUBMITTED)
    conflict.refresh_from_db()
    assert (conflict.state, conflict.resolved_by) == ("resolved", "admin:operator")
    assert Memory.objects.active().filter(uuid__in=conflict.pointers).exists() is is_found


def test_what_is_suggested_is_done_for_several(operator: Client, conflict: PointerConflict) -> None:
    assert results(operator, CONFLICTS) == [conflict]
    run(operator, "apply_suggested", [conflict])
    conflict.refresh_from_db()
    assert conflict.resolution == Resolution.DELETE_MEMORY
    assert results(operator, CONFLICTS) == []
    assert results(operator, CONFLICTS, state="all", q="adr-0001") == [conflict]


# Permissions and cost


def test_each_step_needs_its_permission(
    staff: Callable[..., Client], conflict: PointerConflict, django_user_model: Any
) -> None:
    views = ("view_knowledgesource", "view_syncrun", "view_knowledgeitem", "view_pointerconflict")
    reader, source = staff(*views), conflict.source
    done = SyncRun.objects.earliest("pk")
    assert "[ADR] Use PostgreSQL" not in text_of(reader, page(conflict))  # that needs the permission to view memories
    steps = [
        (KnowledgeSource, "sync_this", source.pk),
        (KnowledgeSource, "pause_this", source.pk),
        (KnowledgeSource, "dry_run", source.pk),
        (KnowledgeSource, "delete", source.pk),
        (SyncRun, "roll_back", done.pk),
        (KnowledgeItem, "sync_this", KnowledgeItem.objects.earliest("pk").pk),
        (PointerConflict, "delete_this", conflict.pk),
    ]
    assert [step for step in steps if reader.post(address(*step), SUBMITTED).status_code != 403] == []


def test_what_items_say_needs_the_permission_to_view_them(
    staff: Callable[..., Client], source: KnowledgeSource
) -> None:
    text = text_of(staff("view_syncrun"), page(SyncRun.objects.get()))
    assert "PostgreSQL" not in text
    assert "require the permission to view them" in text


@pytest.mark.parametrize(("url", "most"), [(SOURCES, 10), (RUNS, 10), (ITEMS, 10), (CONFLICTS, 10)])
def test_a_list_takes_the_same_number_of_queries_for_more_rows(
    operator: Client, conflict: PointerConflict, folder: Path, django_assert_max_num_queries: Any, url: str, most: int
) -> None:
    for number in range(5):
        sync(make_source(folder, name=f"more {number}"))
    text_of(operator, url, state="all") if url == CONFLICTS else text_of(operator, url)
    with django_assert_max_num_queries(most):
        text_of(operator, url)


def test_pages_take_a_bounded_number_of_queries(
    operator: Client, conflict: PointerConflict, django_assert_max_num_queries: Any
) -> None:
    rows = [conflict.source, SyncRun.objects.earliest("pk"), item(conflict.source, "ADR-0002"), conflict]
    for row in rows:
        text_of(operator, page(row))
        with django_assert_max_num_queries(25):
            text_of(operator, page(row))
