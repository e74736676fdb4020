"""The rehearsal of edits that are not saved, beside the editor of a rule."""

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse

from apps.core.domain.scope import system_access
from apps.rules.domain.documents.rule import Document
from apps.rules.forms import RuleForm
from apps.rules.models import MergeRule
from apps.rules.selectors import document_mark
from apps.rules.services import rule_register
from apps.semantic.admin.edit_rehearsal import LOCK
from apps.semantic.conflicts import rehearsal
from apps.semantic.conflicts.rehearsal import rehearse_edits
from apps.semantic.models import Conflict, Memory
from tests.hostile.support import stored

pytestmark = pytest.mark.django_db

Remember = Callable[..., Memory]
SYSTEM = system_access()
NEEDED = ("change_mergerule", "view_mergerule", "view_conflict", "view_memory")
BEFORE: Document = {"name": "default"}
# Under these settings nothing is a conflict.
BLIND = {f"detection__{name}_threshold": "1" for name in ("contradiction", "keyword", "semantic")}


@pytest.fixture
def rule() -> MergeRule:
    return MergeRule.objects.get(name="default")


def move(remember: Remember, *users: str) -> None:
    for user in users:
        remember("She lives in Lisbon.", user)
        remember("She does not live in Lisbon.", user)


def entered(rule: MergeRule | None, **changes: Any) -> dict[str, Any]:
    form = RuleForm(instance=rule) if rule else RuleForm()
    values = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()} | changes
    return {name: "" if value is None else value for name, value in values.items() if value is not False}


def here(rule: MergeRule | None) -> str:
    return reverse("rehearse_edits", args=[rule.pk]) if rule else reverse("rehearse_new_rule")


def answer(client: Client, rule: MergeRule | None, **changes: Any) -> str:
    response = client.post(here(rule), entered(rule, **changes))
    assert response.status_code == 200
    assert "no-store" in response.headers["Cache-Control"]
    return " ".join(unescape(response.content.decode()).split())


def state_of(page: str) -> str:
    found = re.search(r'data-state="(\w+)"', page)
    assert found is not None
    return found.group(1)


def test_edits_are_replayed_on_the_last_decisions(operator: Client, rule: MergeRule, remember: Remember) -> None:
    move(remember, "ana", "ben")
    before = stored()
    page = answer(operator, rule, **BLIND)
    assert state_of(page) == "done"
    assert "2 of 2 would differ" in page
    assert page.count("She does not live in Lisbon.") == 2
    for receipt in Conflict.objects.all():
        assert f"/semantic/conflict/{receipt.pk}/change/" in page
    assert stored() == before


def test_which_edit_makes_the_difference_is_said(operator: Client, rule: MergeRule, remember: Remember) -> None:
    move(remember, "ana", "ben")
    page = answer(operator, rule, detection__contradiction_threshold="1", merge__boost_amount="0.3")
    assert "2 because of <strong>Detection, contradiction threshold</strong>" in page
    assert "boost amount" not in page


def test_what_only_several_edits_do_together_is_said(remember: Remember) -> None:
    """At first the newer one wins; the source decides only where the time does not, and then for the other one."""
    remember("She lives in Lisbon.", source="user")
    remember("She does not live in Lisbon.", source="skill")
    alone = {"arbitration": {"priority_source": False}}
    both = {"arbitration": {"priority_source": False, "priority_recency": False, "default_strategy": "keep-existing"}}
    assert rehearse_edits(SYSTEM, BEFORE, {**BEFORE, **alone}).due == []
    found = rehearse_edits(SYSTEM, BEFORE, {**BEFORE, **both})
    assert len(found.due) == 1
    assert sum(found.causes.values()) + found.together >= 1
    assert "arbitration.priority_source" not in found.causes


def test_an_edit_that_cannot_be_alone_is_left_out(remember: Remember) -> None:
    """A minimum above the maximum that was saved before."""
    move(remember, "ana")
    before = {"name": "mine", "priority": 5, "conditions": {"importance_range": {"max": 0.2}}}
    rule_register(document=before, actor="test")
    after = {
        "name": "mine", "priority": 5, "conditions": {"importance_range": {"min": 0.4, "max": 0.9}},
        "detection": {"contradiction_threshold": 1, "keyword_threshold": 1},
    }  # fmt: skip
    found = rehearse_edits(SYSTEM, before, after)
    assert len(found.due) == 1
    assert found.together == 1
    assert found.causes == {}


def test_nothing_edited_is_nothing_to_rehearse(operator: Client, rule: MergeRule, remember: Remember) -> None:
    move(remember, "ana")
    page = answer(operator, rule)
    assert state_of(page) == "same"
    assert 'data-mark=""' in page


def test_a_mistake_is_named_instead_of_rehearsed(operator: Client, rule: MergeRule) -> None:
    page = answer(operator, rule, merge__boost_amount="7")
    assert state_of(page) == "invalid"
    assert "Boost amount: " in page


def test_answer_names_the_document_that_was_rehearsed(operator: Client, rule: MergeRule, remember: Remember) -> None:
    page = answer(operator, rule, merge__boost_amount="0.25")
    document = {**rule.document, "merge": {"boost_amount": 0.25}}
    assert f'data-mark="{document_mark(document)}"' in page
    assert "No decisions are recorded yet." in page


def test_a_rule_that_is_new_is_rehearsed(operator: Client, remember: Remember) -> None:
    move(remember, "ana", "ben")
    new = {"name": "hers", "priority": "5", "conditions__user_id": "ana", **BLIND}
    assert "1 of 2 would differ" in answer(operator, None, **new)


def test_it_ends_in_time_and_says_so(
    operator: Client, rule: MergeRule, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    move(remember, "ana", "ben", "eva")
    moments = iter([0.0, 1.0, 2.0, *[9.0] * 99])
    monkeypatch.setattr(rehearsal.time, "monotonic", lambda: next(moments))
    found = rehearse_edits(SYSTEM, BEFORE, {**BEFORE, "detection": {"contradiction_threshold": 1}})
    assert found.rehearsal.decisions.tally.replayed == 2
    assert found.rehearsal.decisions.has_time_run_out
    assert not found.rehearsal.decisions.is_complete


def test_only_so_many_decisions_are_replayed(
    operator: Client, rule: MergeRule, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    move(remember, "ana", "ben", "eva")
    monkeypatch.setattr(rehearsal, "EDIT_DECISIONS", 2)
    page = answer(operator, rule, **BLIND)
    assert "2 of 2 would differ" in page
    assert "All decisions" not in page


@pytest.fixture
def other_connection() -> Iterator[psycopg.Connection]:
    """Another web process."""
    parameters = connection.get_connection_params()
    wanted = {name: parameters[name] for name in ("host", "port", "user", "password", "dbname") if parameters.get(name)}
    with psycopg.connect(**wanted, autocommit=True) as other:
        yield other


def test_one_viewer_rehearses_one_thing_at_a_time(
    operator: Client, rule: MergeRule, other_connection: psycopg.Connection
) -> None:
    viewer = User.objects.get(username="operator").pk
    other_connection.execute("SELECT pg_advisory_lock(%s, %s)", [LOCK, viewer])
    assert state_of(answer(operator, rule, **BLIND)) == "busy"
    other_connection.execute("SELECT pg_advisory_unlock(%s, %s)", [LOCK, viewer])
    other_connection.execute("SELECT pg_advisory_lock(%s, %s)", [LOCK, viewer + 1])
    assert state_of(answer(operator, rule, **BLIND)) == "done"
    assert state_of(answer(operator, rule, **BLIND)) == "done"


def test_what_memories_say_is_escaped(operator: Client, rule: MergeRule, remember: Remember) -> None:
    move(remember, "ana")
    receipt = Conflict.objects.get()
    receipt.records["existing"]["content"] += " <script>alert(1)</script>"
    receipt.save()
    page = operator.post(here(rule), entered(rule, **BLIND)).content.decode()
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


@pytest.mark.parametrize("missing", ["change_mergerule", "view_conflict", "view_memory"])
def test_who_lacks_a_permission_rehearses_nothing(staff: Callable[..., Client], rule: MergeRule, missing: str) -> None:
    client = staff(*(name for name in NEEDED if name != missing))
    for one in (rule, None):
        assert client.post(here(one), entered(one)).status_code == 403


def test_the_part_wants_the_token_of_the_form(operator: Client, rule: MergeRule) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = operator.cookies
    assert strict.post(here(rule), entered(rule)).status_code == 403


def test_its_address_leads_to_the_editor(operator: Client, rule: MergeRule) -> None:
    assert operator.get(here(rule)).headers["Location"].endswith(f"/rules/mergerule/{rule.pk}/change/")
