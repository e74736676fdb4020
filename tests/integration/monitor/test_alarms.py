"""Alarms: each problem is sent once when it begins and once when it is over, and the page says whether they arrive."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_q.models import Task

from apps.accounts.models import Account
from apps.accounts.services import account_create
from apps.core.models import HubProcess
from apps.core.sealed import seal, unseal
from apps.monitor.alarms.channels import check_url
from apps.monitor.models import Alarm, AlarmSettings
from apps.monitor.services import alarm_settings_save, alarms_send
from apps.monitor.watch import ProblemWatch
from memoryhub.config.hub import MailConfig
from tests.integration.core.processes import beside
from tests.integration.monitor.receivers import mail_server, served, webhook

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = reverse("cockpit_alarms")


def ago(**ago: float) -> datetime:
    return timezone.now() - timedelta(**ago)


@pytest.fixture
def hook() -> Iterator[Any]:
    with served(webhook()) as server:
        yield server


@pytest.fixture
def owner() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("owner"))
    return client


def url_of(server: Any) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}/T0/secret"


def save(**changes: Any) -> None:
    alarm_settings_save(**{"mail": "", "url": None, "least": 2, "language": "en", **changes})


def page_of(client: Client, address: str = PAGE, /, **data: str) -> str:
    answer = client.post(address, data, follow=True) if data else client.get(address)
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def test_a_dead_worker_is_sent_once_and_its_end_once(hook: Any) -> None:
    save(url=url_of(hook))
    assert [alarms_send() for _ in range(3)] == [1, 0, 0]
    [body] = hook.bodies
    assert "The background worker has stopped" in body["text"]
    assert body["content"] == body["text"]
    assert [one["code"] for one in body["began"]] == ["worker_stopped"]
    beside("worker")
    assert alarms_send() == 0, "it may come back at once"
    Alarm.objects.update(ended_at=ago(minutes=3))
    assert [alarms_send() for _ in range(2)] == [1, 0]
    assert "Over: The background worker has stopped" in hook.bodies[1]["text"]
    assert not Alarm.objects.exists()


def test_what_comes_back_soon_is_no_second_alarm(hook: Any) -> None:
    save(url=url_of(hook))
    alarms_send()
    beside("worker")
    alarms_send()
    HubProcess.objects.all().delete()
    alarms_send()
    assert len(hook.bodies) == 1
    assert Alarm.objects.get().ended_at is None


def test_what_does_not_arrive_is_sent_again(owner: Client) -> None:
    with served(webhook(), status=500) as broken:
        save(url=url_of(broken))
        assert alarms_send() == 0
        page = page_of(owner)
        assert "Webhook: the last attempt failed." in page
        assert "the webhook answered 500" in page
        broken.status = 204
        assert alarms_send() == 1
        assert len(broken.bodies) == 2
    assert "the last attempt failed" not in page_of(owner)


def test_a_redirect_is_not_followed() -> None:
    with served(webhook(), status=302) as server:
        save(url=url_of(server))
        assert alarms_send() == 0
        assert len(server.bodies) == 1


def test_only_what_is_critical_where_that_was_chosen(hook: Any) -> None:
    beside("worker")
    Task.objects.create(
        id="f" * 32, name="x", func="apps.monitor.tasks.sample", started=ago(minutes=1),
        stopped=ago(minutes=1), success=False, attempt_count=5,
    )  # fmt: skip
    save(url=url_of(hook), least=3)
    assert alarms_send() == 0
    save(least=2)
    assert alarms_send() == 1
    assert hook.bodies[0]["began"][0]["severity"] == "warning"


def test_alarms_are_mailed(settings: Any) -> None:
    with served(mail_server()) as server:
        host, port = server.server_address
        mail = MailConfig(host, port, "", "", is_ssl=False, is_starttls=False, sender="hub@example.org")
        settings.MEMORYHUB = replace(settings.MEMORYHUB, mail=mail)
        save(mail="ana@example.org")
        assert alarms_send() == 1
    [body] = server.bodies
    assert "To: ana@example.org" in body
    assert "The background worker has stopped" in body


def test_a_web_process_sends_what_the_worker_does_not(hook: Any) -> None:
    save(url=url_of(hook))
    AlarmSettings.objects.update(looked_at=ago(seconds=30))
    assert alarms_send(only_overdue=True) == 0, "the worker has looked a moment ago"
    AlarmSettings.objects.update(looked_at=ago(minutes=2))
    watch = ProblemWatch()
    try:
        watch.tick()
        watch.look_after_alarms()
        assert watch._alarms is not None
        watch._alarms.join(20)
    finally:
        watch.let_go()
    assert len(hook.bodies) == 1


def test_without_an_address_nothing_is_kept() -> None:
    assert alarms_send() == 0
    save()
    assert alarms_send() == 0
    assert not Alarm.objects.exists()


def test_the_page_keeps_an_address_and_does_not_show_it(owner: Client) -> None:
    page = page_of(owner, url="https://hooks.example.org/T0/quincesecret", least="2")
    assert "Saved. Send a test" in page
    assert "hooks.example.org" in page
    assert "quincesecret" not in page
    row = AlarmSettings.objects.get()
    assert "quincesecret" not in row.sealed_url
    assert row.url.endswith("quincesecret")
    page_of(owner, url="", least="3")
    assert AlarmSettings.objects.get().url.endswith("quincesecret"), "empty keeps it"
    page_of(owner, url="", least="3", remove_url="on")
    assert AlarmSettings.objects.get().url == ""


def test_the_page_refuses_what_cannot_be_sent_to(owner: Client) -> None:
    page = owner.post(PAGE, {"url": "http://hooks.example.org/", "least": "2"}).content.decode()
    assert "must begin with https://" in page
    page = owner.post(PAGE, {"mail": "ana@example.org", "least": "2"}).content.decode()
    assert "set MEMORYHUB_SMTP_URL" in page
    assert not AlarmSettings.objects.exists()


@pytest.mark.parametrize("url", ["https://", "ftp://a.example", "https://a:b@c.example", "https://a.example/ b", "x"])
def test_addresses_that_are_none(url: str) -> None:
    assert check_url(url)


def test_a_test_says_whether_it_arrived(owner: Client, hook: Any) -> None:
    save(url=url_of(hook))
    assert "Webhook: the test was sent." in page_of(owner, reverse("cockpit_alarms_test"), x="1")
    assert hook.bodies[0]["test"] is True
    hook.status = 404
    assert "because the webhook answered 404" in page_of(owner, reverse("cockpit_alarms_test"), x="1")


def test_alarms_are_set_by_who_runs_the_hub(client: Client) -> None:
    client.force_login(account_create(username="vera", role="Viewer"))
    assert client.get(PAGE).status_code == 403
    client.force_login(account_create(username="rita", role="Operator"))
    assert client.get(PAGE).status_code == 200
    bound = User.objects.create_user("bound", is_staff=True)
    bound.user_permissions.set(Permission.objects.all())
    Account.objects.create(login=bound, user_id="ana")
    client.force_login(bound)
    assert client.get(PAGE).status_code == 403
    assert client.post(reverse("cockpit_alarms_test")).status_code == 403


def test_a_sealed_text_needs_the_signing_key(settings: Any) -> None:
    sealed = seal("https://hooks.example.org/")
    assert unseal(sealed) == "https://hooks.example.org/"
    settings.SECRET_KEY = "another" * 10
    assert unseal(sealed) == ""
