"""*Now*: what needs a person, and how the hub is. The tiles are in tests/integration/admin/test_admin_overview.py."""

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.cockpit.now.strip import CRITICAL
from apps.core.domain.scope import Scope, system_access
from apps.core.models import ProcessKind
from apps.core.processes import publish
from apps.monitor.models import Sample
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.services import memory_save
from tests.integration.admin.pages import text_of

pytestmark = pytest.mark.django_db

HERE = reverse("cockpit_now")
FRAGMENTS = ("now_outlook", "now_state", "now_figures", "now_numbers")


def save(content: str, user: str, household: str = "") -> None:
    memory_save(access=system_access("test"), draft=MemoryDraft(content, scope=Scope(user, household or None)))


def test_now_is_the_first_page_of_the_admin() -> None:
    assert reverse("admin:index") == HERE


def test_processes_are_shown_with_their_heartbeat(operator: Client) -> None:
    publish(
        ProcessKind.WEB, {"index": "the index is loading"}, {"index": {"level": "degraded", "reasons": ["too_big"]}}
    )
    publish(ProcessKind.WORKER, {}, {})
    state = operator.get(reverse("cockpit_now_state")).context["state"]
    web, worker = state["processes"]
    assert (web["name"], web["is_late"], web["missing"]) == ("Web 1", False, "index: the index is loading")
    assert (worker["name"], worker["is_late"]) == ("Worker 1", False)
    assert state["index"] == {"label": "degraded", "colour": "danger", "reasons": "too big"}
    assert state["spent"] == {"amount": "$0.00", "limit": "no budget is set"}
    assert 0 <= state["disk"]["percent"] <= 100


def test_a_process_that_is_late_is_marked(operator: Client) -> None:
    publish(ProcessKind.WEB, {}, {})
    with connection.cursor() as cursor:
        cursor.execute("UPDATE core_hubprocess SET seen_at = clock_timestamp() - interval '12 seconds'")
    [web] = operator.get(reverse("cockpit_now_state")).context["state"]["processes"]
    assert (web["seen"][-5:], web["is_late"]) == ("s ago", True)


def test_problems_are_listed_with_what_to_do(operator: Client) -> None:
    """No worker runs beside a test."""
    found = operator.get(HERE).context["outlook"]
    [worker] = [one for one in found.problems if "worker" in one.code]
    assert (found.tone, bool(worker.advice)) == ("bad", True)
    text = text_of(operator, HERE)
    assert worker.sentence in unescape(text)
    assert re.search(r"\d+ things? needs? you", text)


def test_charts_show_the_samples_of_the_chosen_span(operator: Client) -> None:
    now = timezone.now().replace(second=0, microsecond=0)
    for minutes, value in ((3, 7), (200, 5)):
        Sample.objects.create(series="requests", at=now - timedelta(minutes=minutes), value=value)
    for name, total in (("1h", 7), ("24h", 12)):
        charts = operator.get(HERE, {"range": name}).context["charts"]
        assert [chart.name for chart in charts] == ["requests", "searches", "saves", "decisions"]
        values = charts[0].series[0].values
        assert sum(value or 0 for value in values) in (total, total - 7), "the last bucket may not be over yet"
    assert operator.get(HERE, {"range": "nonsense"}).context["span"].name == "24h"


def test_the_strip_shows_when_there_were_problems(operator: Client) -> None:
    at = timezone.now().replace(second=0, microsecond=0) - timedelta(hours=2)
    for series, value in (("problems_open", 2), ("problems_critical", 1)):
        Sample.objects.create(series=series, at=at, value=value)
    strip = operator.get(reverse("cockpit_now_outlook")).context["strip"]
    assert [square.words.split(": ")[1] for square in strip["squares"][:-1] if square.level] == [
        "critical problems, 2 at once"
    ]


def test_the_strip_shows_what_is_open_now_without_a_sample_of_it(operator: Client) -> None:
    """No worker runs beside a test."""
    strip = operator.get(reverse("cockpit_now_outlook")).context["strip"]
    assert [square.level for square in strip["squares"]].count(CRITICAL) == 1
    assert strip["squares"][-1].level == CRITICAL
    assert strip["summary"].startswith("Problems in 1 of 96 quarter-hours.")


@pytest.mark.parametrize("name", FRAGMENTS)
def test_every_part_is_live_and_says_how_old_it_is(operator: Client, name: str) -> None:
    response = operator.get(reverse(f"cockpit_{name}"))
    text = response.content.decode()
    assert "no-store" in response.headers["Cache-Control"]
    assert "<html" not in text
    assert "data-live=" in text
    assert "data-as-of" in text or name == "now_state"


def test_an_account_with_a_bound_sees_its_own_figures_and_nothing_of_the_hub(bound: Callable[..., Client]) -> None:
    save("Ana prefers tea", "ana", "home")
    save("Ben prefers tea", "ben", "office")
    client = bound(household_id="home")
    context = client.get(HERE).context
    assert [(tile.label, tile.value) for tile in context["tiles"]] == [
        ("Active memories", "1"),
        ("Conflicts to review", "0"),
    ]
    assert (context["outlook"].sentence, context["charts"], context["state"]) == ("Nothing needs you", [], {})
    text = text_of(client, HERE)
    for word in ("Processes", "Readiness", "Disk", "Valid API keys", "Timeline events", "The last 24 h"):
        assert word not in text


def test_an_account_with_a_bound_is_asked_for_its_own_decisions(bound: Callable[..., Client]) -> None:
    for household, user in (("home", "hana"), ("office", "otto")):
        save(f"{user.capitalize()} works at Siemens.", user, household)
        save(f"{user.capitalize()} does not work at Siemens.", user, household)
    found = bound(household_id="home").get(HERE).context["outlook"]
    assert (found.sentence, found.tone) == ("1 thing needs you", "info")
    assert found.problems[0].sentence == "1 decision is waiting for review"


def test_an_account_without_permissions_gets_a_reason(staff: Callable[..., Client]) -> None:
    client = staff("view_price")
    assert "cannot see any figures" in text_of(client, HERE)
    assert client.get(reverse("cockpit_now_numbers")).status_code == 403


def test_fragments_need_a_sign_in(client: Client) -> None:
    for name in ("now", *FRAGMENTS, "activity", "activity_new"):
        assert client.get(reverse(f"cockpit_{name}")).status_code == 302


def test_more_rows_take_no_more_queries(operator: Client, django_assert_max_num_queries: Any) -> None:
    def fill(users: range) -> None:
        for number in users:
            save("likes tea", f"user{number}")

    fill(range(2))
    text_of(operator, HERE)
    with django_assert_max_num_queries(80) as few:
        text_of(operator, HERE)
    fill(range(2, 12))
    with django_assert_max_num_queries(len(few)):
        text_of(operator, HERE)
