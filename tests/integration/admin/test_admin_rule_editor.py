"""The editor of a rule: what differs from the parent, what the edits change, and saving beside other people."""

import re
from collections.abc import Callable
from html import unescape
from threading import Thread
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from apps.core.domain.scope import system_access
from apps.rules import selectors, services
from apps.rules.admin import rules as rules_admin
from apps.rules.forms import REHEARSED, SETTINGS, RuleForm
from apps.rules.models import MergeRule, MergeRuleVersion
from apps.rules.selectors import document_mark
from apps.rules.services import rule_register, rule_update
from tests.hostile.support import stored
from tests.integration.admin.pages import address, text_of

pytestmark = pytest.mark.django_db

SYSTEM = system_access()
BASE = {"name": "base", "priority": 7, "conditions": {"source": "skill", "importance_range": {"min": 0.5}}}
LEAF = {"name": "leaf", "extends": "base", "merge": {"boost_amount": 0.25}, "conditions": {"source": None}}


@pytest.fixture
def leaf() -> MergeRule:
    for document in (BASE, LEAF):
        rule_register(document=document, actor="admin:rita")
    return MergeRule.objects.get(name="leaf")


def entered(rule: MergeRule | None = None, **changes: Any) -> dict[str, Any]:
    """What a browser sends for the form of a rule, with some fields changed; None: a box that is not ticked."""
    form = RuleForm(instance=rule) if rule else RuleForm()
    values = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()} | changes
    return {name: "" if value is None else value for name, value in values.items() if value is not False}


def page_of(client: Client, rule: MergeRule) -> str:
    return text_of(client, address(MergeRule, "change", rule.pk))


def shown_in(page: str, part: str) -> list[str]:
    """The settings that a part of the editor shows, by name."""
    start = page.index(f'id="{part}"')
    end = page.find("</section>", start) if part == "rule-own" else page.index("</details>", start)
    return re.findall(r'data-setting="([^"]+)"', page[start:end])


def preview(client: Client, rule: MergeRule | None, **changes: Any) -> str:
    name = "admin:rules_mergerule_preview" + ("" if rule else "_new")
    response = client.post(reverse(name, args=[rule.pk] if rule else []), entered(rule, **changes))
    assert response.status_code == 200
    assert "no-store" in response.headers["Cache-Control"]
    return unescape(response.content.decode())


def save(client: Client, rule: MergeRule, **changes: Any) -> HttpResponse:
    return client.post(address(MergeRule, "change", rule.pk), entered(rule, **changes), follow=True)


# What is shown


def test_only_what_differs_from_the_parent_is_open(operator: Client, leaf: MergeRule) -> None:
    page = page_of(operator, leaf)
    assert shown_in(page, "rule-own") == ["conditions__source", "merge__boost_amount"]
    rest = shown_in(page, "rule-rest")
    assert set(rest) == SETTINGS.keys() - {"conditions__source", "merge__boost_amount", "description"}
    assert "What differs from <span data-parent-name>base</span>" in page


def test_every_setting_can_be_reached_without_scripts(operator: Client, leaf: MergeRule) -> None:
    page = page_of(operator, leaf)
    for name in SETTINGS:
        assert len(re.findall(f'name="{name}"', page)) == 1
        assert f'for="id_{name}"' in page
    for shown in re.findall(r'<details[^>]*id="rule-rest"[^>]*>', page):
        assert "hidden" not in shown


def test_the_value_of_the_parent_is_beside_each_setting(operator: Client, leaf: MergeRule) -> None:
    page = page_of(operator, leaf)
    for name, words in (("merge__boost_amount", "0.1"), ("conditions__source", "skill"), ("priority", "7")):
        row = page[page.index(f'data-setting="{name}"') :]
        assert re.search(r"<strong data-parent-value>([^<]*)</strong>", row).group(1) == words  # type: ignore[union-attr]


def test_a_setting_is_found_by_its_name_and_its_explanation(operator: Client, leaf: MergeRule) -> None:
    page = page_of(operator, leaf)
    found = re.search(r'data-setting="detection__act_threshold"[^>]*data-search="([^"]*)"', page)
    assert found is not None
    assert {"act threshold", "detection", "acted on, not only noticed"} <= {
        words for words in ("act threshold", "detection", "acted on, not only noticed") if words in found.group(1)
    }


def test_who_may_only_look_sees_values_and_no_fields(staff: Callable[..., Client], leaf: MergeRule) -> None:
    page = page_of(staff("view_mergerule"), leaf)
    assert "Merge, boost amount" in page
    assert "<strong>0.25</strong>" in page
    assert 'name="merge__boost_amount"' not in page
    assert "rules/editor.js" not in page


# What the edits change


def test_edits_are_said_in_words_and_as_lines_of_the_document(operator: Client, leaf: MergeRule) -> None:
    before = stored()
    page = preview(operator, leaf, merge__boost_amount="0.5", arbitration__allow_merge="false")
    assert "Merge, boost amount: 0.5, was 0.25." in page
    assert "Arbitration, allow merge: No, was as in base (Yes)." in page
    assert '<span class="mh-line mh-line-removed">-     "boost_amount": 0.25</span>' in page
    assert '<span class="mh-line mh-line-added">+     "boost_amount": 0.5</span>' in page
    assert stored() == before


def test_a_form_that_was_not_edited_differs_in_nothing(operator: Client, leaf: MergeRule) -> None:
    page = preview(operator, leaf)
    assert "There are no unsaved changes." in page
    assert 'data-changes="0"' in page


def test_another_parent_changes_the_values_beside_the_settings(operator: Client, leaf: MergeRule) -> None:
    page = preview(operator, leaf, extends="inferred")
    assert '"name": "inferred"' in page
    assert '"priority": "-100"' in page
    assert "Inherits from inferred instead of base." in page


def test_a_mistake_is_no_document_to_compare(operator: Client, leaf: MergeRule) -> None:
    page = preview(operator, leaf, merge__boost_amount="7")
    assert "Some settings are not valid yet" in page
    assert 'data-valid="no"' in page


def test_a_new_rule_is_previewed_too(operator: Client) -> None:
    page = preview(operator, None, name="new", priority="3")
    assert "A new rule, new." in page
    assert "Priority: 3, was as in the defaults (0)." in page


def test_preview_is_for_those_who_may_change_the_rule(staff: Callable[..., Client], leaf: MergeRule) -> None:
    client = staff("view_mergerule")
    for name, args in (("preview", [leaf.pk]), ("preview_new", [])):
        assert client.post(reverse(f"admin:rules_mergerule_{name}", args=args), entered(leaf)).status_code == 403


def test_parts_want_the_token_of_the_form(operator: Client, leaf: MergeRule) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = operator.cookies
    for name in ("preview", "try_out"):
        assert strict.post(reverse(f"admin:rules_mergerule_{name}", args=[leaf.pk]), entered(leaf)).status_code == 403


# Conditions of the parent


def test_a_condition_of_the_parent_is_removed_by_its_box(operator: Client, leaf: MergeRule) -> None:
    ticked = {"any__conditions__importance_range__min": "on"}
    assert "Conditions, importance range min: any, was as in base (0.5)." in preview(operator, leaf, **ticked)
    save(operator, leaf, **ticked)
    assert selectors.rule_get(SYSTEM, "leaf")["conditions"] == {"source": None, "importance_range": {"min": None}}


def test_a_removed_condition_is_inherited_again(operator: Client, leaf: MergeRule) -> None:
    save(operator, leaf, any__conditions__source=False)
    assert "conditions" not in selectors.rule_get(SYSTEM, "leaf")


def test_a_removed_range_stays_as_it_was_written(operator: Client) -> None:
    rule_register(document=BASE, actor="test")
    document = {"name": "wide", "extends": "base", "conditions": {"importance_range": None}}
    rule_register(document=document, actor="test")
    save(operator, MergeRule.objects.get(name="wide"))
    assert selectors.rule_get(SYSTEM, "wide") == document


# Saving


def test_saving_says_that_it_was_not_rehearsed(operator: Client, leaf: MergeRule) -> None:
    assert "saved without a rehearsal" in save(operator, leaf, priority="3").content.decode()


def test_saving_what_was_rehearsed_says_nothing_of_it(operator: Client, leaf: MergeRule) -> None:
    mark = document_mark({**LEAF, "priority": 3})
    assert "without a rehearsal" not in save(operator, leaf, priority="3", **{REHEARSED: mark}).content.decode()
    stale = save(operator, MergeRule.objects.get(pk=leaf.pk), priority="4", **{REHEARSED: mark})
    assert "saved without a rehearsal" in stale.content.decode()


def test_who_saved_first_is_named_and_edits_are_kept(operator: Client, leaf: MergeRule) -> None:
    sent = entered(leaf, merge__boost_amount="0.75")
    rule_update(name="leaf", changes={"priority": 4, "merge": {"boost_amount": 0.3}}, actor="admin:maria")
    before = stored()
    page = operator.post(address(MergeRule, "change", leaf.pk), sent).content.decode()
    assert stored() == before
    assert "admin:maria changed this rule at" in page
    assert "Merge, boost amount: 0.3, was 0.25." in page
    assert "Priority: 4, was as in base (7)." in page
    assert re.search(r'<input[^>]*name="merge__boost_amount" value="0.75"', page)


def test_edits_are_put_on_top_of_what_another_saved(operator: Client, leaf: MergeRule) -> None:
    sent = entered(leaf, merge__boost_amount="0.75")
    rule_update(name="leaf", changes={"priority": 4}, actor="admin:maria")
    before = stored()
    response = operator.post(address(MergeRule, "change", leaf.pk), {**sent, rules_admin.REBASE: ""})
    page = response.content.decode()
    assert stored() == before
    for name, value in (("merge__boost_amount", "0.75"), ("priority", "4")):
        assert re.search(f'name="{name}" value="{value}"', page)
    seen = re.search(r'name="seen_version" value="(\d+)"', page)
    assert seen is not None
    now = MergeRule.objects.get(pk=leaf.pk)
    assert int(seen.group(1)) == now.version
    save(operator, now, merge__boost_amount="0.75")
    assert selectors.rule_get(SYSTEM, "leaf") == {**LEAF, "priority": 4, "merge": {"boost_amount": 0.75}}


@pytest.mark.django_db(transaction=True)
def test_a_change_between_check_and_lock_is_refused(
    operator: Client, leaf: MergeRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one commits after the form was checked, and before the registry is locked."""
    replace = services.rule_replace

    def change_beside() -> None:
        rule_update(name="leaf", changes={"priority": 4}, actor="admin:maria")
        connection.close()

    def first_the_other(**arguments: Any) -> Any:
        monkeypatch.setattr(services, "rule_replace", replace)
        other = Thread(target=change_beside)
        other.start()
        other.join()
        return replace(**arguments)

    monkeypatch.setattr(services, "rule_replace", first_the_other)
    page = save(operator, leaf, merge__boost_amount="0.75").content.decode()
    assert "admin:maria changed this rule at" in page
    assert re.search(r'name="merge__boost_amount" value="0.75"', page)
    assert selectors.rule_get(SYSTEM, "leaf") == {**LEAF, "priority": 4}


def test_a_save_leaves_one_change_by_who_is_signed_in(operator: Client, leaf: MergeRule) -> None:
    before = MergeRuleVersion.objects.count()
    save(operator, leaf, priority="3")
    newest = MergeRuleVersion.objects.first()
    assert newest is not None
    assert (MergeRuleVersion.objects.count(), newest.actor) == (before + 1, "admin:operator")


# Trying it out


def trial(**changes: str) -> dict[str, str]:
    sides = {"existing": "Ana lives in Lisbon.", "candidate": "Ana does not live in Lisbon.", "hours": "24"}
    about = {f"{side}_{name}": value for side in ("existing", "candidate") for name, value in
             (("importance", "0.5"), ("source", "user"))}  # fmt: skip
    return {f"trial-{name}": value for name, value in {**sides, **about, **changes}.items()}


def test_edits_that_are_not_saved_are_tried(operator: Client) -> None:
    rule = MergeRule.objects.get(name="default")
    url = reverse("admin:rules_mergerule_try_out", args=[rule.pk])
    assert "The new memory wins" in operator.post(url, trial()).content.decode()
    blind = {f"detection__{name}_threshold": "1" for name in ("semantic", "keyword", "contradiction")}
    before = stored()
    page = operator.post(url, {**entered(rule, **blind), **trial()}).content.decode()
    assert "They do not conflict" in page
    assert "with edits that are not saved" in page
    assert stored() == before


def test_edits_and_pair_come_back_to_the_editor(operator: Client, leaf: MergeRule) -> None:
    sent = {**entered(leaf, merge__boost_amount="0.75"), **trial(), services.EDIT_AGAIN: ""}
    page = operator.post(address(MergeRule, "change", leaf.pk), sent).content.decode()
    assert re.search(r'name="merge__boost_amount" value="0.75"', page)
    assert "Ana does not live in Lisbon." in page
    assert 'id="rule-try" open' in page


def test_edits_with_a_mistake_are_not_tried(operator: Client, leaf: MergeRule) -> None:
    url = reverse("admin:rules_mergerule_try_out", args=[leaf.pk])
    page = operator.post(url, {**entered(leaf, merge__boost_amount="7"), **trial()}).content.decode()
    assert "Boost amount: " in page
    assert "mh-verdict" not in page


def test_a_new_rule_is_tried_before_it_is_there(operator: Client) -> None:
    url = reverse("admin:rules_mergerule_try_new")
    page = operator.post(url, {**entered(None, name="new", seen_version=""), **trial()}).content.decode()
    assert "The new memory wins" in page
    assert not MergeRule.objects.filter(name="new").exists()
