"""Rehearsing a rule before it is saved, from its form in the admin."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.contrib import admin
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from apps.core.domain.scope import system_access
from apps.rules import selectors
from apps.rules.forms import EDIT_AGAIN, REHEARSE, RuleForm
from apps.rules.models import MergeRule
from apps.rules.services import rule_update
from apps.semantic.models import Conflict, Memory
from tests.hostile.support import stored
from tests.integration.admin.pages import address, text_of

pytestmark = pytest.mark.django_db

Remember = Callable[..., Memory]
SYSTEM = system_access()
NEEDED = ("change_mergerule", "view_mergerule", "view_conflict", "view_memory")
# Under these settings nothing is a conflict.
BLIND = {
    "detection__contradiction_threshold": "1",
    "detection__keyword_threshold": "1",
    "detection__semantic_threshold": "1",
}


@pytest.fixture
def rule() -> MergeRule:
    return MergeRule.objects.get(name="default")


def move(remember: Remember, user: str = "ana") -> Conflict:
    remember("She lives in Lisbon.", user)
    remember("She does not live in Lisbon.", user)
    receipt = Conflict.objects.first()
    assert receipt is not None
    return receipt


def entered(rule: MergeRule, **changes: Any) -> dict[str, Any]:
    """What a browser sends for the form of a rule, with some fields changed."""
    form = RuleForm(instance=rule)
    values = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
    return {**{name: "" if value is None else value for name, value in values.items()}, **changes}


def rehearse(client: Client, rule: MergeRule, **changes: Any) -> HttpResponse:
    """Press the button in the form of the rule."""
    sent = entered(rule, **{REHEARSE: "", **changes})
    return client.post(address(MergeRule, "change", rule.pk), sent, follow=True)


def here(rule: MergeRule) -> str:
    return reverse("rehearse_rule", args=[rule.pk])


def page_of(response: HttpResponse) -> str:
    assert response.status_code == 200
    return response.content.decode()


def hidden(page: str) -> dict[str, str]:
    """The hidden fields of a page but for the token."""
    fields = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', page)
    return {name: unescape(value) for name, value in fields if name != "csrfmiddlewaretoken"}


def tiles(response: Any) -> dict[str, int]:
    return {tile["label"]: tile["value"] for tile in response.context["tiles"]}


def test_form_of_rule_leads_to_its_rehearsal(operator: Client, rule: MergeRule) -> None:
    assert f'name="{REHEARSE}"' in text_of(operator, address(MergeRule, "change", rule.pk))
    response = rehearse(operator, rule)
    assert response.redirect_chain == [(here(rule), 307)]  # type: ignore[attr-defined]
    assert "Rehearse default" in page_of(response)


def test_page_shows_what_unsaved_values_would_change(operator: Client, rule: MergeRule, remember: Remember) -> None:
    move(remember)
    before = stored()
    response = rehearse(operator, rule, **BLIND)
    page = page_of(response)
    assert tiles(response) == {
        "Decisions replayed": 1, "Would differ": 1, "Because of this change": 1, "Rules that change": 2,
    }  # fmt: skip
    for words in ("Superseded existing", "No conflict", "She lives in Lisbon.", "She does not live in Lisbon."):
        assert words in page
    assert stored() == before


def test_a_change_of_nothing_says_so(operator: Client, rule: MergeRule, remember: Remember) -> None:
    move(remember)
    assert "Every decision would be the same." in page_of(rehearse(operator, rule))


def test_without_decisions_page_says_what_to_do(operator: Client, rule: MergeRule) -> None:
    assert "No decisions are recorded here yet" in page_of(rehearse(operator, rule))


def test_mistake_in_form_is_shown_at_its_field_as_when_saving(operator: Client, rule: MergeRule) -> None:
    response = rehearse(operator, rule, merge__boost_amount="2")
    assert response.redirect_chain == []  # type: ignore[attr-defined]
    assert list(response.context["adminform"].form.errors) == ["merge__boost_amount"]  # type: ignore[attr-defined]


def test_saving_from_page_saves_what_was_rehearsed(operator: Client, rule: MergeRule) -> None:
    values = hidden(page_of(rehearse(operator, rule, description="a\nb", **BLIND)))
    response = operator.post(address(MergeRule, "change", rule.pk), {**values, "_save": "", "rehearsal-limit": "5"})
    assert response.status_code == 302
    saved = selectors.rule_get(SYSTEM, "default")
    assert saved["detection"] == dict.fromkeys(
        ("contradiction_threshold", "keyword_threshold", "semantic_threshold"), 1.0
    )
    assert saved["description"] == "a\nb"


def test_going_back_keeps_values_and_saves_nothing(operator: Client, rule: MergeRule) -> None:
    values = hidden(page_of(rehearse(operator, rule, priority="", merge__boost_amount="0.25")))
    before = stored()
    response = operator.post(address(MergeRule, "change", rule.pk), {**values, EDIT_AGAIN: ""})
    page = page_of(response)
    assert 'name="merge__boost_amount" value="0.25"' in page
    assert "Not saved yet" in page
    assert stored() == before
    assert rehearse(operator, rule, merge__boost_amount="0.25").status_code == 200


def test_rule_that_somebody_else_changed_meanwhile_is_not_overwritten(operator: Client, rule: MergeRule) -> None:
    values = hidden(page_of(rehearse(operator, rule, **BLIND)))
    rule_update(name="default", changes={"description": "theirs"}, actor="test")
    for button in ("_save", EDIT_AGAIN):
        response = operator.post(address(MergeRule, "change", rule.pk), {**values, button: ""})
        assert response.status_code == 200
    again = operator.post(here(rule), values, follow=True)
    assert "This rule was changed after you opened it" in page_of(again)
    assert selectors.rule_get(SYSTEM, "default")["description"] == "theirs"


def test_a_scope_is_chosen_on_the_page(operator: Client, rule: MergeRule, remember: Remember) -> None:
    move(remember, "ana")
    move(remember, "ben")
    values = hidden(page_of(rehearse(operator, rule, **BLIND)))
    extent = {"rehearsal-user_id": "ben", "rehearsal-limit": "10", "rehearsal-max_pairs": "10"}
    response = operator.post(here(rule), {**values, **extent})
    assert tiles(response)["Decisions replayed"] == 1
    assert hidden(page_of(response)) == values


def test_neighbours_of_a_user_are_compared(operator: Client, rule: MergeRule, remember: Remember) -> None:
    rule_update(name="default", changes={"detection": {name.split("__")[1]: 1 for name in BLIND}}, actor="test")
    remember("She lives in Lisbon.")
    remember("She does not live in Lisbon.")
    values = hidden(page_of(rehearse(operator, MergeRule.objects.get(pk=rule.pk), **dict.fromkeys(BLIND, ""))))
    extent = {"rehearsal-user_id": "ana", "rehearsal-limit": "10", "rehearsal-max_pairs": "10"}
    response = operator.post(here(rule), {**values, **extent, "rehearsal-neighbours": "on"})
    assert tiles(response)["Pairs that would differ"] == 1


def test_neighbours_without_user_are_refused_at_field(operator: Client, rule: MergeRule) -> None:
    values = hidden(page_of(rehearse(operator, rule)))
    extent = {"rehearsal-limit": "10", "rehearsal-max_pairs": "10", "rehearsal-neighbours": "on"}
    response = operator.post(here(rule), {**values, **extent})
    assert "Choose whose memories to compare." in page_of(response)
    assert "tiles" not in response.context


def test_what_memories_say_is_escaped(operator: Client, rule: MergeRule, remember: Remember) -> None:
    receipt = move(remember)
    receipt.records["existing"]["content"] += " <script>alert(1)</script>"
    receipt.save()
    page = page_of(rehearse(operator, rule, description='"><b>bold', **BLIND))
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<b>bold" not in page


def test_decision_leads_to_its_receipt_where_there_is_page(
    operator: Client, rule: MergeRule, remember: Remember
) -> None:
    receipt = move(remember)
    page = page_of(rehearse(operator, rule, **BLIND))
    assert (f"/semantic/conflict/{receipt.pk}/change/" in page) == admin.site.is_registered(Conflict)


def test_who_follows_the_address_gets_to_the_rule(operator: Client, rule: MergeRule) -> None:
    assert operator.get(here(rule)).headers["Location"] == address(MergeRule, "change", rule.pk)


def test_a_rule_that_does_not_exist_is_not_found(operator: Client) -> None:
    assert operator.post(reverse("rehearse_rule", args=[10**6])).status_code == 404


def test_nobody_rehearses_without_logging_in(client: Client, rule: MergeRule) -> None:
    assert "/login/" in client.post(here(rule), entered(rule)).headers["Location"]


def test_who_may_change_rules_and_see_memories_may_rehearse(staff: Callable[..., Client], rule: MergeRule) -> None:
    assert "Rehearse default" in page_of(rehearse(staff(*NEEDED), rule))


@pytest.mark.parametrize("missing", ["change_mergerule", "view_conflict", "view_memory"])
def test_whoever_lacks_a_permission_may_not(staff: Callable[..., Client], rule: MergeRule, missing: str) -> None:
    client = staff(*(name for name in NEEDED if name != missing))
    assert client.post(here(rule), entered(rule)).status_code == 403
    assert f'name="{REHEARSE}"' not in text_of(client, address(MergeRule, "change", rule.pk))


def test_the_page_wants_the_token_of_the_form(rule: MergeRule, operator: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = operator.cookies
    assert strict.post(here(rule), entered(rule)).status_code == 403
