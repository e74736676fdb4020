"""*Work* and the page of a new key in a real browser."""

import json
from datetime import timedelta
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone
from django_q.models import Failure, Schedule
from pytest_django.live_server_helper import LiveServer

from apps.core.models import ApiKey
from apps.events.services import schedules_ensure
from memoryhub.schedules import SCHEDULES
from tests.browser import browser_open
from tests.integration.admin.pages import address
from tests.system.browser.test_admin_browser import PASSWORD, log_in, watch
from tests.system.browser.test_now_browser import CHANGED, elsewhere, width

pytestmark = pytest.mark.django_db(transaction=True)


def fail() -> None:
    now = timezone.now()
    report = 'full : Traceback (most recent call last):\n  File "/apps/sync/tasks.py", line 7, in due\nOSError: full\n'
    Failure.objects.create(
        id=uuid4().hex, name="venus-east", func="apps.sync.tasks.due", started=now, stopped=now, success=False,
        result=report,
    )  # fmt: skip


def test_failed_task_appears_and_is_run_again_by_keyboard(live_server: LiveServer) -> None:
    User.objects.create_superuser("operator", password=PASSWORD)
    schedules_ensure(specs=SCHEDULES)
    Schedule.objects.filter(name="events: sweep").update(next_run=timezone.now() - timedelta(minutes=3, seconds=30))
    with browser_open() as browser:
        page = browser.new_page(viewport={"width": 320, "height": 640})
        complaints = watch(page)
        log_in(page, live_server.url)
        page.goto(live_server.url + reverse("cockpit_work"), wait_until="load")
        assert width(page) == 320
        page.wait_for_selector("#work-schedules >> text=overdue 3 min")
        page.evaluate("window.isSamePage = true")
        elsewhere(fail)
        page.evaluate(CHANGED)
        again = page.locator("#work-failures button", has_text="Run again")
        again.wait_for()
        assert page.evaluate("window.isSamePage")
        again.focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("text=1 task is queued again.")
        page.wait_for_selector("text=No failed tasks need you.")
    assert complaints == []
    assert not Failure.objects.exists()


def test_page_of_a_new_key_turns_green_with_its_first_call(live_server: LiveServer) -> None:
    User.objects.create_superuser("operator", password=PASSWORD)
    with browser_open() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        complaints = watch(page)
        log_in(page, live_server.url)
        page.goto(live_server.url + address(ApiKey, "add"))
        page.fill("[name=name]", "kitchen")
        assert not page.locator("[name=confirmed]").is_visible()
        page.select_option("[name=permission]", "operator")
        assert page.locator("[name=confirmed]").is_visible()
        page.select_option("[name=permission]", "write")
        page.fill("[name=user_id]", "ana")
        page.wait_for_selector("text=The hub knows nothing about this id.")
        page.click("button:has-text('Save')")
        page.wait_for_selector("text=Waiting for its first call")
        assert width(page) == 390
        secret = page.input_value("#mh-secret")
        call = Request(
            f"{live_server.url}/api/semantic/memories",
            data=json.dumps({"content": "Ana prefers tea"}).encode(),
            headers={"Authorization": f"Bearer {secret}", "Content-Type": "application/json"},
        )
        with urlopen(call) as answer:
            assert answer.status == 201
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url) if "first-call" in request.url else None)
        page.wait_for_selector("text=It works: its first call came at")
        # The page asks every second: one question may have been on its way, and the next one has the answer.
        assert len(asked) <= 2
    assert complaints == []
