"""Merge rules in the admin: forms, the panel to try them, history and restoring."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from apps.core.domain.scope import system_access
from apps.rules import selectors
from apps.rules.domain.documents.differences import diff_lines
from apps.rules.forms import RuleForm
from apps.rules.models import MergeRule, MergeRuleVersion
from apps.rules.services import rule_delete, rule_register, rule_update
from tests.timing import assert_quick

pytestmark = pytest.mark.django_db

LIST = "admin:rules_mergerule_changelist"
CHANGE = "admin:rules_mergerule_change"
VERSION = "admin:rules_mergeruleversion_change"
SYSTEM = system_access()
BASE = {"name": "base", "priority": 7, "merge": {"boost_amount": 0.25}}
LEAF = {
    "name": "leaf",
    "extends": "base",
    "conditions": {"source": ["skill", "system"], "user_id": None},
    "arbitration": {"allow_merge": False, "weights": {"source": 0.5}},
}


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("operator"))
    return client


@pytest.fixture
def leaf() -> MergeRule:
    for document in (BASE, LEAF):
        rule_register(document=document, actor="test")
    return MergeRule.objects.get(name="leaf")


def entered(rule: MergeRule | None = None, **changes: Any) -> dict[str, Any]:
    """What a browser sends for the form of a rule, with some fields changed."""
    form = RuleForm(instance=rule) if rule else RuleForm()
    values = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
    sent = {name: "" if value is None else value for name, value in values.items()}
    return {**sent, **changes}


def page(client: Client, name: str, *args: Any) -> str:
    response = client.get(reverse(name, args=args))
    assert response.status_code == 200
    return response.content.decode()


def errors(response: Any) -> dict[str, list[str]]:
    assert response.status_code == 200, "it was saved"
    found: dict[str, list[str]] = response.context["adminform"].form.errors
    return found


def stored(name: str) -> dict[str, Any]:
    return selectors.rule_get(SYSTEM, name)


def test_list_says_what_each_rule_applies_to_and_decides_by(operator: Client, leaf: MergeRule) -> None:
    text = page(operator, LIST)
    for words in ("leaf", "source skill or system", "What stays: the newer one, else the one", "inferred"):
        assert words in text


def test_form_of_rule_sent_as_it_is_changes_nothing_in_it(operator: Client, leaf: MergeRule) -> None:
    before = stored("leaf")
    response = operator.post(reverse(CHANGE, args=[leaf.pk]), entered(leaf))
    assert response.status_code == 302
    assert stored("leaf") == before


@pytest.mark.parametrize("name", ["default", "inferred"])
def test_form_of_built_in_rule_changes_nothing_in_it(operator: Client, name: str) -> None:
    before = stored(name)
    rule = MergeRule.objects.get(name=name)
    assert operator.post(reverse(CHANGE, args=[rule.pk]), entered(rule)).status_code == 302
    assert stored(name) == before


def test_setting_is_changed_and_another_one_inherits_again(operator: Client, leaf: MergeRule) -> None:
    changes = {
        "arbitration__weights__source": "0.75",
        "arbitration__allow_merge": "",
        "conditions__source": "skill, user",
    }
    operator.post(reverse(CHANGE, args=[leaf.pk]), entered(leaf, **changes))
    assert stored("leaf") == {
        "name": "leaf",
        "extends": "base",
        "conditions": {"source": ["skill", "user"], "user_id": None},
        "arbitration": {"weights": {"source": 0.75}},
    }
    assert MergeRuleVersion.objects.first().actor == "admin:operator"  # type: ignore[union-attr]


def test_a_field_that_inherits_shows_what_applies(operator: Client, leaf: MergeRule) -> None:
    text = page(operator, CHANGE, leaf.pk)
    assert 'placeholder="As in base: 0.25"' in text
    assert 'placeholder="As in base: 7"' in text
    assert "As in base: Yes" in text


def test_a_rule_is_made_in_the_form(operator: Client) -> None:
    sent = entered(name="new", extends="default", merge__content_strategy="replace", priority="5")
    assert operator.post(reverse("admin:rules_mergerule_add"), sent).status_code == 302
    assert stored("new") == {
        "name": "new", "extends": "default", "priority": 5, "merge": {"content_strategy": "replace"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"merge__boost_amount": "2"}, "merge__boost_amount"),
        ({"merge__content_strategy": "shuffle"}, "merge__content_strategy"),
        ({"priority": "1.5"}, "priority"),
        ({"extends": "leaf"}, "extends"),
        ({"conditions__importance_range__min": "0.8", "conditions__importance_range__max": "0.2"},
         "conditions__importance_range__min"),
        ({f"arbitration__weights__{name}": "0" for name in ("importance", "recency", "source", "semantic")},
         "arbitration__weights__importance"),
    ],
)  # fmt: skip
def test_a_bad_setting_is_refused_at_its_field(
    operator: Client, leaf: MergeRule, changes: dict[str, str], field: str
) -> None:
    before = selectors.registry_version()
    assert list(errors(operator.post(reverse(CHANGE, args=[leaf.pk]), entered(leaf, **changes)))) == [field]
    assert selectors.registry_version() == before


def test_a_circle_is_refused_at_the_field(operator: Client, leaf: MergeRule) -> None:
    base = MergeRule.objects.get(name="base")
    found = errors(operator.post(reverse(CHANGE, args=[base.pk]), entered(base, extends="leaf")))
    assert "circle" in found["extends"][0]


def test_a_taken_name_is_refused_at_the_field(operator: Client, leaf: MergeRule) -> None:
    assert "name" in errors(operator.post(reverse("admin:rules_mergerule_add"), entered(name="leaf")))


def test_form_that_was_loaded_before_another_change_is_refused(operator: Client, leaf: MergeRule) -> None:
    sent = entered(leaf, priority="9")
    rule_update(name="leaf", changes={"priority": 4}, actor="somebody")
    assert (
        "This rule was changed after you opened it"
        in errors(operator.post(reverse(CHANGE, args=[leaf.pk]), sent))["__all__"][0]
    )
    assert stored("leaf")["priority"] == 4


def test_page_shows_document_as_given_and_with_all_that_it_inherits(operator: Client, leaf: MergeRule) -> None:
    text = page(operator, CHANGE, leaf.pk)
    assert text.count("&quot;extends&quot;: &quot;base&quot;") == 2
    assert text.count("&quot;boost_amount&quot;: 0.25") == 1


def test_rule_is_deleted_on_its_page_unless_it_is_needed(operator: Client, leaf: MergeRule) -> None:
    for name, gone in (("base", False), ("leaf", True), ("base", True)):
        row = MergeRule.objects.get(name=name)
        response = operator.post(reverse("admin:rules_mergerule_delete", args=[row.pk]), {"post": "yes"}, follow=True)
        assert MergeRule.objects.filter(name=name).exists() is not gone
        assert ("Other rules extend this one: leaf." in response.content.decode()) is not gone


def test_a_built_in_rule_is_not_deleted(operator: Client) -> None:
    row = MergeRule.objects.get(name="default")
    assert operator.post(reverse("admin:rules_mergerule_delete", args=[row.pk]), {"post": "yes"}).status_code == 403


def test_a_rule_is_tried_on_two_texts(operator: Client, leaf: MergeRule) -> None:
    sent = {
        "trial-existing": "Ana drinks green tea.", "trial-candidate": "Ana drinks green tea!", "trial-hours": "24",
        "trial-existing_importance": "0.5", "trial-candidate_importance": "0.5",
        "trial-existing_source": "user", "trial-candidate_source": "user",
    }  # fmt: skip
    address = reverse("admin:rules_mergerule_try_out", args=[leaf.pk])
    assert "Two memories under the rule leaf" in operator.get(address).content.decode()
    before = selectors.registry_version()
    text = operator.post(address, sent).content.decode()
    for words in ("The new memory wins", "by recency", "Semantic", "Keyword", "mh-at-100"):
        assert words in text
    assert selectors.registry_version() == before
    assert "<b>" not in operator.post(address, {**sent, "trial-candidate": "<b>bold</b>"}).content.decode()


def test_page_of_change_shows_difference_escaped(operator: Client) -> None:
    rule_register(document={"name": "mine", "description": "<b>old</b>"}, actor="test")
    rule_update(name="mine", changes={"description": "new"}, actor="test")
    text = page(operator, VERSION, MergeRuleVersion.objects.get(action="updated").pk)
    assert '<span class="mh-line mh-line-removed">-   &quot;description&quot;: &quot;&lt;b&gt;old' in text
    assert '<span class="mh-line mh-line-added">+   &quot;description&quot;: &quot;new' in text


def test_change_is_restored_from_its_page_even_after_rule_was_deleted(operator: Client) -> None:
    rule_register(document={"name": "mine", "priority": 3}, actor="test")
    first = MergeRuleVersion.objects.get(rule_name="mine")
    rule_update(name="mine", changes={"priority": 4}, actor="test")
    rule_delete(name="mine", actor="test")
    address = reverse("admin:rules_mergeruleversion_restore", args=[first.pk])
    response = operator.post(address, {"_form_submitted": "True"}, follow=True)
    assert "was restored to version" in response.content.decode()
    assert stored("mine")["priority"] == 3


def test_who_may_only_look_changes_and_restores_nothing(client: Client, leaf: MergeRule) -> None:
    user = User.objects.create_user("viewer", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_mergerule", "view_mergeruleversion"]))
    client.force_login(user)
    before = selectors.registry_version()
    assert "leaf" in page(client, LIST)
    assert page(client, CHANGE, leaf.pk)
    assert client.post(reverse(CHANGE, args=[leaf.pk]), entered(leaf, priority="9")).status_code == 403
    version = MergeRuleVersion.objects.latest("version")
    assert client.post(reverse("admin:rules_mergeruleversion_restore", args=[version.pk])).status_code == 403
    assert selectors.registry_version() == before


def test_difference_of_long_documents_is_shown_quickly() -> None:
    """What compared the characters of all lines with each other took seconds."""
    alike = " ".join(f"w{number} x." for number in range(250))
    sources = [f"{alike[:195]}{number:03}" for number in range(20)]

    def compare(text: str) -> None:
        before = {"description": text[:2_000], "conditions": {"source": sources}}
        after = {"description": text[1:2_000], "conditions": {"source": [f"{source[1:]}x" for source in sources]}}
        lines = list(diff_lines(before, after))
        assert [kind for kind, _ in lines].count("added") == [kind for kind, _ in lines].count("removed") == 21

    assert_quick(compare, alike, 0.5)
    assert list(diff_lines(None, {"a": 1})) == [("added", "+ {"), ("added", '+   "a": 1'), ("added", "+ }")]
