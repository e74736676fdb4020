"""What is critical is on every page of operators and people, with a count, and its button."""

from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from apps.accounts.services import account_create
from apps.core.models import HubProcess
from apps.core.restart import take_restart
from apps.monitor.services import forget_recent_problems
from tests.integration.core.processes import beside
from tests.integration.webui.person import ANA, browser_of

pytestmark = pytest.mark.django_db

STOPPED = "The background worker has stopped"
ALARM = 'class="mh-alarm" data-alarm'
PAGES = ("cockpit_ask", "cockpit_work", "admin:semantic_memory_changelist")


def body(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return unescape(response.content.decode())


@pytest.fixture
def owner() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("owner"))
    return client


def test_a_dead_worker_is_on_every_page_of_an_operator(owner: Client) -> None:
    for name in PAGES:
        page = body(owner, reverse(name))
        assert STOPPED in page
        assert ALARM in page
    assert body(owner, reverse("admin:index")).count(STOPPED) == 1, "Now shows it in full, and no banner besides"
    beside("worker")
    assert ALARM not in body(owner, reverse("cockpit_now_alarms")), "a part that is fetched is of now"
    page = body(owner, reverse(PAGES[0]))
    assert "load delay:3s" in page or STOPPED not in page, "a page of a moment ago asks again soon"
    forget_recent_problems()
    for name in PAGES:
        page = body(owner, reverse(name))
        assert STOPPED not in page
        assert 'id="mh-alarms"' in page, "it comes back by itself"


def test_the_navigation_counts_what_needs_an_operator(owner: Client) -> None:
    page = body(owner, reverse("cockpit_ask"))
    entry = page[page.index("monitoring") :]
    assert "1" in strip_tags(entry[: entry.index("</a>")]).split()


def test_a_person_reads_what_they_notice_of_it() -> None:
    ana = browser_of(ANA)
    for name in ("webui:home", "webui:settings", "webui:alarms"):
        page = body(ana, reverse(name))
        assert "becomes memories only later" in page
        assert "worker" not in page.partition('id="alarms"')[2].partition("</section>")[0]
    beside("worker")
    forget_recent_problems()
    assert ALARM not in body(ana, reverse("webui:home"))


def test_who_sees_no_processes_has_no_banner(staff: Callable[..., Client]) -> None:
    page = body(staff("view_memory"), reverse("admin:semantic_memory_changelist"))
    assert STOPPED not in page
    assert ALARM not in page


def test_an_account_with_a_bound_has_no_banner(bound: Callable[..., Client]) -> None:
    page = body(bound(user_id="ana"), reverse("admin:semantic_memory_changelist"))
    assert 'id="mh-alarms"' not in page


def test_an_operator_restarts_the_worker_of_up(settings: Any, tmp_path: Path) -> None:
    settings.MEMORYHUB = replace(settings.MEMORYHUB, is_supervised=True, data_dir=tmp_path)
    client = Client()
    client.force_login(account_create(username="rita", role="Operator"))
    page = body(client, reverse("cockpit_work"))
    assert f'action="{reverse("cockpit_work_restart")}"' in page
    answer = client.post(reverse("cockpit_work_restart"), follow=True)
    assert "The worker is being restarted" in unescape(answer.content.decode())
    assert take_restart(tmp_path)
    assert not take_restart(tmp_path), "once"


def test_a_worker_of_others_is_not_restarted(owner: Client, settings: Any, tmp_path: Path) -> None:
    settings.MEMORYHUB = replace(settings.MEMORYHUB, data_dir=tmp_path)
    answer = owner.post(reverse("cockpit_work_restart"), follow=True)
    assert "cannot be restarted from here" in unescape(answer.content.decode())
    assert not take_restart(tmp_path)
    assert owner.get(reverse("cockpit_work_restart")).status_code == 405


def test_only_who_may_change_schedules_restarts_it(staff: Callable[..., Client]) -> None:
    HubProcess.objects.all().delete()
    assert staff("view_hubprocess").post(reverse("cockpit_work_restart")).status_code == 403
