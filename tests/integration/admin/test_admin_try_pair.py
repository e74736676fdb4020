"""From a decision to a trial of its rule on the same two texts."""

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from apps.rules.models import MergeRule
from apps.rules.services import rule_register
from apps.semantic.models import Conflict, Memory
from tests.hostile.support import stored
from tests.integration.admin.pages import address, text_of

pytestmark = pytest.mark.django_db

Remember = Callable[..., Memory]
READ = ("view_conflict", "view_memory")


@pytest.fixture
def receipt(remember: Remember) -> Conflict:
    remember("She lives in Lisbon.", importance=0.25)
    remember("She does not live in “Lisbon” <now>.", importance=0.75, source="skill")
    return Conflict.objects.get()


def pages_of(receipt: Conflict) -> list[str]:
    return [address(Conflict, "change", receipt.pk), reverse("cockpit_decision", args=[receipt.pk])]


def form_of(page: str) -> tuple[str, dict[str, str]]:
    """The address and the fields of the form that leads to the trial."""
    form = re.search(r'<form id="try-pair" method="post" action="([^"]+)">(.*?)</form>', page, re.DOTALL)
    assert form is not None
    fields = re.findall(r'name="(trial-[^"]+)" value="([^"]*)"', form.group(2), re.DOTALL)
    return form.group(1), {name: unescape(value) for name, value in fields}


def test_a_decision_leads_to_a_trial_of_its_pair(operator: Client, receipt: Conflict) -> None:
    for page in pages_of(receipt):
        url, fields = form_of(text_of(operator, page))
        assert url == reverse("admin:rules_mergerule_try_out", args=[MergeRule.objects.get(name="default").pk])
        assert fields["trial-existing"] == "She lives in Lisbon."
        assert fields["trial-candidate"] == "She does not live in “Lisbon” <now>."
        assert (fields["trial-existing_importance"], fields["trial-candidate_source"]) == ("0.25", "skill")
        before = stored()
        response = operator.post(url, fields).content.decode()
        assert "The new memory wins" in response
        assert "She does not live in “Lisbon” &lt;now&gt;." in response
        assert stored() == before


def test_the_trial_decides_by_the_times_of_the_pair(operator: Client, receipt: Conflict) -> None:
    """They may be less than a second apart, and the newer one wins all the same."""
    url, fields = form_of(text_of(operator, pages_of(receipt)[0]))
    assert 0 < float(fields["trial-hours"]) < 1
    assert "by recency" in operator.post(url, fields).content.decode()


def test_the_rule_that_decided_is_tried_while_it_exists(operator: Client, receipt: Conflict) -> None:
    rule_register(document={"name": "mine"}, actor="test")
    for name, tried in (("mine", "mine"), ("gone", "default")):
        Conflict.objects.update(rule_name=name)
        url, _ = form_of(text_of(operator, pages_of(receipt)[0]))
        assert url == reverse("admin:rules_mergerule_try_out", args=[MergeRule.objects.get(name=tried).pk])


@pytest.mark.parametrize("granted", [READ, ("view_conflict", "view_mergerule")])
def test_contents_and_rules_need_their_permissions(
    staff: Callable[..., Client], receipt: Conflict, granted: tuple[str, ...]
) -> None:
    client = staff(*granted)
    for page in pages_of(receipt):
        assert "try-pair" not in text_of(client, page)


def test_who_may_look_at_rules_tries_and_changes_nothing(staff: Callable[..., Client], receipt: Conflict) -> None:
    client = staff(*READ, "view_mergerule")
    url, fields = form_of(text_of(client, pages_of(receipt)[0]))
    page = client.post(url, fields).content.decode()
    assert "The new memory wins" in page
    assert "Edit the rule with this pair" not in page
