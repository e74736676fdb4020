"""An account that is bound to a household sees nothing of another, on any page of the admin."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings as hub
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from apps.accounts.models import Account
from apps.accounts.services import account_bind, account_create
from apps.core.domain.errors import InvalidInputError
from apps.core.domain.scope import Scope, system_access
from apps.episodic.models import TimelineEvent
from apps.episodic.services import event_record
from apps.rules.services import rule_register
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Conflict, Memory
from apps.semantic.services import memory_save
from tests.caches import place_notes
from tests.emptying import rolled_back
from tests.integration.accounts.signing import PASSWORD
from tests.integration.admin import bridge, knowledge, timeline
from tests.integration.admin.conversations import learn
from tests.integration.episodic.timeline import draft
from tests.integration.llm import configuring

pytestmark = pytest.mark.django_db

OWN, OTHER = "quinceown", "quinceother"
SYSTEM = system_access("test")
# Pages that need no permission, and the start of the admin, which shows what the viewer may see.
FREE = {"login", "logout", "password_change", "password_change_done", "jsi18n", "index", "app_list", "search"}
ARGUMENTS = {
    "object_id": "1", "pk": "1", "app_label": "semantic", "content_type_id": "1", "url": "x", "uuid": str(uuid4()),
}  # fmt: skip


def fill(word: str, household: str) -> None:
    """Put memories, conflicts and events of a household into the hub, all with one word."""
    scope = Scope(f"{word}-user", household)
    rule_register(document={"name": f"{word}-rule", "conditions": {"household_id": household}}, actor="test")
    for text in ("lives in Lisbon.", "does not live in Lisbon.", "prefers tea"):
        memory_save(access=SYSTEM, draft=MemoryDraft(f"{word} {text}", scope=scope, context=word))
    event_record(access=SYSTEM, draft=draft(f"{word} came", scope=scope))


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The directories of the hub, for all tests here."""
    root, config = tmp_path_factory.mktemp("households"), hub.MEMORYHUB
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hub, "TIMELINE_DIR", root / "timeline")
        patch.setattr(hub, "MEMORYHUB", replace(config, sync=replace(config.sync, roots=(root,))))
        place_notes(root, patch)
        yield root


@pytest.fixture
def notes_dir(places: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The notes of the hub that is filled once, instead of a test's own."""
    return place_notes(places, monkeypatch)


@pytest.fixture(scope="module")
def two_households(places: Path, django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """A hub of two households that is filled once, in a transaction around those of the tests."""
    with django_db_blocker.unblock(), rolled_back():
        fill(OWN, "home")
        fill(OTHER, "office")
        learn(f"I live in {OTHER}.")
        knowledge.make_conflict(places / "knowledge")
        timeline.warning()
        bridge.pruned_event()
        configuring.call()
        yield


@pytest.fixture
def reviewer(two_households: None) -> Client:
    """A browser of a reviewer who is bound to one of two households."""
    login = account_create(username="rita", role="Owner", scope=Scope(household_id="home"))
    client = Client()
    client.force_login(login)
    return client


def names_below(patterns: Any, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    for one in patterns:
        path = prefix + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from names_below(one.url_patterns, path)
        elif path.startswith("admin/"):
            yield path, one


def concrete(path: str, keys: dict[str, str]) -> str:
    """Return an address of a route. keys: arguments by name."""
    filled = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: keys.get(found[1], "1"), path)
    filled = re.sub(r"\(\?P<(\w+)>[^)]*\)", lambda found: keys.get(found[1], "semantic"), filled)
    return "/" + re.sub(r"[\^$]|\\Z", "", filled)


def is_scoped(model: type[Model]) -> bool:
    return model._meta.label_lower in hub.SCOPED_MODELS


def objects_of(path: str) -> list[dict[str, str]]:
    """Return the arguments of each object whose page a route may show."""
    for model in admin.site._registry:
        meta = model._meta
        if path.startswith(f"admin/{meta.app_label}/{meta.model_name}/") and "<" in path:
            rows = model._default_manager.order_by("pk")
            # Of what has no scope one is enough: all of it is closed.
            chosen = [*rows.exclude(household_id="home")[:2], *rows[:1]] if is_scoped(model) else rows[:1]
            return [{**ARGUMENTS, "object_id": str(one.pk), "uuid": str(getattr(one, "uuid", ""))} for one in chosen]
    return [ARGUMENTS]


def test_every_page_of_the_admin_shows_a_bound_account_only_its_own(reviewer: Client, plain_refusals: None) -> None:
    assert Conflict.objects.filter(household_id="office").exists()
    walked, leaks, opened = 0, [], set()
    for path, route in names_below(get_resolver().url_patterns):
        for keys in objects_of(path):
            url = concrete(path, keys)
            answer = reviewer.get(url)
            walked += 1
            body = b"".join(answer.streaming_content) if answer.streaming else answer.content
            if OTHER in body.decode(errors="replace"):
                leaks.append(url)
            if answer.status_code == 200:
                opened.add((route.name, path))
    assert walked > 100
    assert leaks == []
    models = {f"{model._meta.app_label}_{model._meta.model_name}": model for model in admin.site._registry}
    not_scoped = {name for name, model in models.items() if not is_scoped(model)}
    shut = [path for name, path in opened if any(str(name).startswith(f"{model}_") for model in not_scoped)]
    assert shut == []


@pytest.mark.parametrize("model", sorted(model._meta.label_lower for model in admin.site._registry if is_scoped(model)))
def test_lists_searches_and_counts_are_of_the_bound(reviewer: Client, model: str) -> None:
    address = reverse(f"admin:{model.replace('.', '_')}_changelist")
    for query in ({}, {"q": OTHER}, {"household_id": "office"}, {"user_id": f"{OTHER}-user"}):
        answer = reviewer.get(address, query)
        assert answer.status_code == 200
        assert not re.search(rf"{OTHER} (lives|came|prefers|does)", answer.content.decode())
        assert {row.household_id for row in answer.context["cl"].result_list} <= {"home"}


def test_a_refusal_shows_nothing_of_another_household(reviewer: Client) -> None:
    answer = reviewer.get(reverse("admin:core_apikey_changelist"), {"q": OTHER, "household_id": "office"})
    assert answer.status_code == 403
    assert 'id="nav-sidebar-inner"' in answer.content.decode()
    assert not re.search(rf"{OTHER} (lives|came|prefers|does)", answer.content.decode())


def test_a_bound_account_sees_its_own(reviewer: Client) -> None:
    for model in (Memory, Conflict, TimelineEvent):
        page = reviewer.get(reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"))
        assert OWN in page.content.decode()


def test_the_search_of_the_timeline_is_within_the_bound(reviewer: Client) -> None:
    address = reverse("admin:episodic_timelineevent_query")
    assert f"{OWN} came" in reviewer.get(address, {"user_id": f"{OWN}-user"}).content.decode()
    assert f"{OTHER} came" not in reviewer.get(address, {"user_id": f"{OTHER}-user"}).content.decode()


@pytest.mark.parametrize("page", ["timeline", "new"])
@pytest.mark.parametrize(
    "query",
    [
        {}, {"range": "all"}, {"range": "all", "q": OTHER}, {"range": "all", "user": f"{OTHER}-user"},
        {"range": "all", "type": "message"}, {"range": "month", "from": "2026-01-01T00:00"},
    ],
)  # fmt: skip
def test_the_timeline_is_within_the_bound(reviewer: Client, page: str, query: dict[str, str]) -> None:
    answer = reviewer.get(reverse(f"admin:episodic_timelineevent_{page}"), query)
    assert answer.status_code == 200
    if page == "new":
        assert answer.context["new"] <= 1
        return
    assert f"{OTHER} came" not in answer.content.decode()
    assert {row["whose"] for row in answer.context["rows"]} <= {f"{OWN}-user / home"}
    assert answer.context["people"] == [f"{OWN}-user"]
    assert answer.context["drawing"].total == sum(one.total for one in answer.context["drawing"].lanes) <= 1
    assert "segment" not in (answer.context.get("timeline_health") or "")


def test_an_event_opens_within_the_bound(reviewer: Client) -> None:
    pages = {
        event.household_id: reviewer.get(reverse("admin:episodic_timelineevent_event", args=[event.uuid])).status_code
        for event in TimelineEvent.objects.filter(household_id__in=["home", "office"])
    }
    assert pages == {"home": 200, "office": 404}


def test_badges_count_within_the_bound(reviewer: Client) -> None:
    Conflict.objects.filter(household_id="home").delete()
    page = reviewer.get("/admin/")
    badges = [item.get("badge") for group in page.context["sidebar_navigation"] for item in group["items"]]
    assert not any(badges)


def test_what_is_not_in_the_bound_cannot_be_changed(reviewer: Client) -> None:
    memory = Memory.objects.filter(household_id="office", status="active").earliest("pk")
    reviewer.post(reverse("admin:semantic_memory_soft_delete_this", args=[memory.pk]), {})
    changelist = reverse("admin:semantic_memory_changelist")
    reviewer.post(changelist, {"action": "soft_delete", "_selected_action": [memory.pk], "confirmed": "1"})
    receipt = Conflict.objects.filter(household_id="office").earliest("pk")
    reviewer.post(reverse("admin:semantic_conflict_accept_this", args=[receipt.pk]), {})
    memory.refresh_from_db()
    receipt.refresh_from_db()
    assert (memory.status, receipt.state) == ("active", "open")


def test_an_account_and_its_bound_are_one_query(reviewer: Client, django_assert_num_queries: Any) -> None:
    from apps.accounts.backend import AccountBackend

    pk = User.objects.get(username="rita").pk
    with django_assert_num_queries(1):
        user = AccountBackend().get_user(pk)
        assert user.account.is_bound  # type: ignore[union-attr]


def test_a_superuser_cannot_be_bound_and_where_one_is_the_bound_counts(client: Client) -> None:
    boss = User.objects.create_superuser("boss", password=PASSWORD)
    with pytest.raises(InvalidInputError):
        account_bind(login=boss, scope=Scope(household_id="home"))
    client.force_login(boss)
    form = client.get(reverse("admin:auth_user_change", args=[boss.pk])).context["adminform"].form
    data = {"username": "boss", "is_superuser": "on", "is_active": "on", "household_id": "home", **form.data}
    page = client.post(reverse("admin:auth_user_change", args=[boss.pk]), data)
    assert "A superuser sees everything and cannot be bound" in page.content.decode()
    Account.objects.create(login=boss, household_id="home")
    assert client.get(reverse("admin:core_apikey_changelist")).status_code == 403
