"""The audit in sentences: who did what to what, from one table of verbs and things."""

import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from apps.audit.domain.actions import action_of_route, action_on_page
from apps.audit.models import AuditEntry
from apps.audit.selectors import is_known, sentence
from apps.audit.services import record
from apps.core.domain.scope import Permission, Scope
from memoryhub.audit import QUIET, READS, WRITES

# Pages of an admin that change nothing, or that redirect to others.
READING = frozenset(
    ["history", "autocomplete", "query", "event", "new", "timeline", "inside", "compare", "person", "first_call"]
)


@pytest.fixture
def browser(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("rita"))
    return client


def shown(client: Client) -> list[str]:
    rows = client.get("/admin/audit/").context["rows"]
    return [f"{row['actor']} {row['words']}" for row in rows if row["words"] != "signed in"]


@pytest.mark.parametrize(
    ("action", "count", "words"),
    [
        ("decisions_act.create", 20, "decided 20 conflicts"),
        ("decisions_act.create", 1, "decided a conflict"),
        ("keys.create", 1, "added an API key"),
        ("api_key.revoke_this", 1, "revoked an API key"),
        ("budget_day.waive_today", 1, "reset today's spending"),
        ("memory_settings_save.create", 3, "changed memory settings, 3 times"),
        ("command.purge_memories", 1, "ran the command purge_memories"),
    ],
)
def test_an_act_is_the_rest_of_a_sentence(action: str, count: int, words: str) -> None:
    assert sentence(action, count) == words


def test_twenty_decisions_of_one_person_are_one_row(browser: Client) -> None:
    for _ in range(20):
        record(actor_kind="person", actor="rita", action="decisions_act.create")
    record(actor_kind="person", actor="olga", action="group.change", detail={"changes": {"name": ["a", "b"]}})
    record(actor_kind="person", actor="olga", action="group.change", detail={"changes": {"name": ["b", "c"]}})
    assert shown(browser) == ["olga changed a role", "olga changed a role", "rita decided 20 conflicts"]


def test_a_person_is_named_without_a_prefix(browser: Client) -> None:
    record(actor_kind="person", actor="person:ana", action="app.stop", scope=Scope("ana"), detail={"name": "kitchen"})
    assert shown(browser) == ["ana stopped an app"]
    words = [(row["actor"], row["words"]) for row in browser.get(reverse("cockpit_activity")).context["rows"]]
    assert ("ana", "stopped an app") in words


def test_a_page_that_takes_no_form_makes_no_entry(browser: Client) -> None:
    count = AuditEntry.objects.count()
    assert browser.get(reverse("cockpit_decisions_act")).status_code == 405
    assert browser.put("/api/docs").status_code in {403, 405}
    assert AuditEntry.objects.count() == count


def test_every_act_of_the_admin_has_its_words() -> None:
    acts = set()
    for model, one in admin.site._registry.items():
        kind = str(model._meta.verbose_name_raw)
        pages = [pattern.name or "" for pattern in one.get_urls() if pattern.name]
        prefix = f"{model._meta.app_label}_{model._meta.model_name}_"
        acts |= {
            action_on_page(kind, name.removeprefix(prefix))
            for name in pages
            if f"admin:{name}" not in QUIET and name.removeprefix(prefix) not in READING | {"changelist", "preview"}
        }
        base: Any = one
        acts |= {action_on_page(kind, "changelist", found[1]) for found in base._get_base_actions()}
    assert sorted(act for act in acts if not is_known(act)) == []


def test_every_call_of_the_api_has_its_words() -> None:
    acts = {act for name, view in views(get_resolver()) for act in acts_of(name, view)}
    assert len(acts) > 30
    assert sorted(act for act in acts if not is_known(act)) == []


def views(resolver: URLResolver) -> Iterator[tuple[str, Any]]:
    for found in resolver.url_patterns:
        if isinstance(found, URLPattern):
            yield found.name or "", getattr(found.callback, "cls", None)
        else:
            yield from views(found)


def acts_of(name: str, view: Any) -> Iterator[str]:
    """The acts of a class of views that are recorded."""
    if not inspect.isclass(view) or name in QUIET:
        return
    reads = getattr(view, "needed_permission", None) is Permission.READ and name not in WRITES
    for method in ("get", "post", "put", "patch", "delete"):
        if hasattr(view, method) and (name in READS if method == "get" else not reads):
            yield action_of_route(name, method.upper())
