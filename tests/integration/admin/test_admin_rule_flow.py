"""The list of rules: in the order in which they are asked, with what they decided and what people took back."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.core.domain.scope import Scope, system_access
from apps.rules.figures import DecisionFigures, decision_figures
from apps.rules.models import MergeRule
from apps.rules.services import rule_register
from apps.semantic.conflicts.queue import decisions_by_rule
from apps.semantic.models import Conflict, Memory
from tests.integration.admin.pages import address, text_of

pytestmark = pytest.mark.django_db

Remember = Callable[..., Memory]
LIST = address(MergeRule, "changelist")
SYSTEM = system_access()
MONTH = timedelta(days=30)


def register(name: str, **document: object) -> None:
    rule_register(document={"name": name, **document}, actor="admin:rita")


def decide(remember: Remember, count: int, **changes: object) -> None:
    """Make receipts of the default rule, and change some columns of them."""
    for number in range(count):
        remember("She lives in Lisbon.", f"user {number}")
        remember("She does not live in Lisbon.", f"user {number}")
    Conflict.objects.update(**changes)


def words_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def names_of(page: str) -> list[str]:
    return re.findall(r'class="rule-name"><a [^>]*>([^<]+)</a>', page)


def test_rules_are_in_the_order_in_which_they_are_asked(operator: Client) -> None:
    register("late", priority=-200)
    register("first", priority=9)
    register("same", priority=9)
    register("off", priority=50, enabled=False)
    assert names_of(text_of(operator, LIST)) == ["first", "same", "inferred", "late", "default", "off"]


def test_each_says_what_it_catches_and_from_whom_it_inherits(operator: Client) -> None:
    register("base", priority=5)
    register("hers", extends="base", conditions={"user_id": "ana"}, merge={"boost_amount": 0.2})
    text = words_of(text_of(operator, LIST))
    assert "hers On New memories of the user ana, except those that were only inferred" in text
    assert "Inherits from base 2 settings of its own" in text
    assert "by admin:rita" in text


def test_decisions_of_a_month_and_what_people_took_back(operator: Client, remember: Remember) -> None:
    decide(remember, 5)
    first, second, third = Conflict.objects.order_by("pk")[:3]
    Conflict.objects.filter(pk=first.pk).update(state="reverted")
    Conflict.objects.filter(pk=second.pk).update(outcome="noticed")
    Conflict.objects.filter(pk=third.pk).update(at=timezone.now() - MONTH - timedelta(hours=1))
    text = words_of(text_of(operator, LIST))
    assert "default On Whatever no other rule catches" in text
    assert "Decisions in 30 days 4 1 only noticed Undone by people 25 % 1 of 4" in text


def test_figures_are_one_query_and_of_rules_only(
    remember: Remember, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    decide(remember, 3)
    Conflict.objects.filter(pk=Conflict.objects.order_by("pk")[0].pk).update(origin="override")
    with django_assert_num_queries(1):
        found = decisions_by_rule(SYSTEM, timezone.now() - MONTH)
    assert found == {"default": DecisionFigures(2)}


def test_figures_are_of_what_the_viewer_may_see(remember: Remember) -> None:
    decide(remember, 2)
    bound = system_access("test").__class__(Scope("user 0"), SYSTEM.permission, "key:ana")
    assert decision_figures(bound, timezone.now() - MONTH)["default"].decided == 1


@pytest.mark.parametrize(
    ("undone", "decided", "percent"), [(0, 0, 0), (0, 9, 0), (1, 1000, 1), (1, 3, 33), (3, 3, 100)]
)
def test_a_share_is_never_rounded_to_nothing(undone: int, decided: int, percent: int) -> None:
    assert DecisionFigures(decided, 0, undone).undone_percent == percent


def test_decisions_of_rules_that_are_gone_are_counted_below(operator: Client, remember: Remember) -> None:
    decide(remember, 2, rule_name="gone")
    assert "2 decisions of the last 30 days were made by rules that no longer exist." in words_of(
        text_of(operator, LIST)
    )


def test_who_may_not_see_decisions_sees_no_figures(staff: Callable[..., Client], remember: Remember) -> None:
    decide(remember, 1)
    page = text_of(staff("view_mergerule"), LIST)
    assert names_of(page) == ["inferred", "default"]
    assert "Decisions in" not in page
    assert "Add a rule" not in page


def test_search_finds_by_name_and_by_what_is_caught(operator: Client) -> None:
    register("hers", conditions={"user_id": "ana"})
    register("his", conditions={"user_id": "ben"}, description="<b>Quiet</b>")
    assert names_of(text_of(operator, LIST, q="ANA")) == ["hers"]
    page = text_of(operator, LIST, q="quiet")
    assert names_of(page) == ["his"]
    assert "<b>Quiet" not in page
    assert "none of 4 rules has" in words_of(text_of(operator, LIST, q="nothing of that"))


def test_a_rule_that_cannot_be_used_says_why(operator: Client) -> None:
    register("mine")
    MergeRule.objects.filter(name="mine").update(document={"name": "mine", "extends": "nowhere"})
    from apps.rules import registry

    registry._known = None
    text = words_of(text_of(operator, LIST))
    assert "mine Broken It cannot be used and catches nothing" in text


def test_nobody_without_permission_sees_the_list(staff: Callable[..., Client]) -> None:
    assert staff("view_memory").get(LIST).status_code == 403
