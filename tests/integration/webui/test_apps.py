"""A person sees which apps reach what is theirs, stops one, forgets what it learnt, and connects another."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from apps.audit.models import AuditEntry
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Permission, Scope
from apps.core.models import ApiKey, KeyDay
from apps.core.services import key_create, key_revoke
from apps.people.models import AppForgetting, ConnectionRequest
from apps.people.services import connection_fetch, connection_request, show_user_code
from apps.semantic.models import Memory
from tests.api import MEMORIES, Api
from tests.integration.webui.person import ANA, BEN, browser_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("timeline_dir")]


def made(name: str = "kitchen", scope: Scope | None = None, **options: Any) -> tuple[ApiKey, Api]:
    fields = {"permission": Permission.WRITE, "actor": "test", **options}
    key, secret = key_create(name=name, scope=Scope(ANA) if scope is None else scope, **fields)
    return key, Api(secret)


def page(browser: Client, name: str, *arguments: object) -> str:
    return browser.get(reverse(f"webui:{name}", args=arguments)).content.decode()


# --- the list ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "what", "whom"),
    [
        ({}, "Reads and writes your data.", "It cannot see other people’s data."),
        ({"permission": Permission.READ}, "Reads your data.", "It cannot see other people’s data."),
        ({"reads": ["team:x"]}, "Reads and writes your data.", "It also sees what others shared with it."),
        (
            {"scope": Scope(ANA, "home")},
            "Reads and writes your data in home.",
            "It cannot see other people’s data.",
        ),
        (
            {"scope": Scope(household_id="home")},
            "Reads and writes the data of home.",
            "It also sees what belongs to others there.",
        ),
        (
            {"scope": Scope(BEN), "reads": [ANA]},
            "Reads your data, because it was shared with it.",
            "It belongs to someone else and can see their data, too.",
        ),
        (
            {"scope": Scope()},
            "Reads and writes what the hub knows about everyone.",
            "It also sees what belongs to everyone else here.",
        ),
        (
            {"scope": Scope(), "permission": Permission.OPERATOR},
            "Manages this hub: it reads and writes what the hub knows about everyone, and creates other keys.",
            "It also sees what belongs to everyone else here.",
        ),
    ],
)
def test_a_key_is_shown_in_plain_words(ana: Client, options: dict[str, Any], what: str, whom: str) -> None:
    made("sample", Scope())[1].save("Ana likes tea", user_id=ANA, household_id="home")
    ApiKey.objects.all().delete()
    made(**options)
    shown = page(ana, "apps")
    assert f"{what} {whom}" in shown
    assert "Never used" in shown


def test_keys_that_reach_nothing_of_the_person_are_not_shown(ana: Client) -> None:
    for name, scope in (("marigold", Scope(BEN)), ("larkspur", Scope(household_id="away")), ("yarrow", Scope(ANA))):
        made(name, scope)
    shown = page(ana, "apps")
    assert "yarrow" in shown
    assert not {name for name in ("marigold", "larkspur") if name in shown}
    for key in ApiKey.objects.exclude(name="yarrow"):
        for name in ("app", "app_forget"):
            assert ana.get(reverse(f"webui:{name}", args=[key.uuid])).status_code == 404
        for name in ("app_stop", "app_let_in", "app_forget"):
            assert ana.post(reverse(f"webui:{name}", args=[key.uuid])).status_code == 404
    assert not ApiKey.objects.exclude(stopped_by=[]).exists()


def test_use_and_what_was_learnt_this_week_are_counted(ana: Client) -> None:
    key, kitchen = made()
    for content in ("tea", "milk"):
        kitchen.save(f"likes {content}")
    KeyDay.objects.create(key=key, day=utcnow(SYSTEM_CLOCK).date(), used=7)
    shown = page(ana, "apps")
    assert "2 memories this week" in shown
    assert "Used 7 times in 14 days" in shown
    assert shown.count("<rect") == 1


def test_how_often_others_use_a_shared_key_is_not_shown(ana: Client) -> None:
    key, kitchen = made(scope=Scope())
    kitchen.save("likes tea", user_id=ANA)
    for number in range(3):
        kitchen.save(f"likes number {number}", user_id=BEN)
    KeyDay.objects.create(key=key, day=utcnow(SYSTEM_CLOCK).date(), used=777)
    shown = page(ana, "apps")
    assert "777" not in shown
    assert "Learnt one thing about you in 14 days" in shown
    assert "one memory this week" in shown


def test_an_app_that_ended_is_shown_while_what_it_learnt_is_here(ana: Client) -> None:
    (key, kitchen), (other, _) = made("marigold"), made("larkspur")
    kitchen.save("likes tea")
    for one in (key, other):
        key_revoke(uuid=one.uuid)
    shown = page(ana, "apps")
    assert "No longer connected" in shown
    assert "marigold" in shown
    assert "larkspur" not in shown
    assert "Stop access" not in shown


# --- stopping --------------------------------------------------------------------------------------------


def test_a_person_stops_an_app_and_lets_it_in_again(ana: Client) -> None:
    key, kitchen = made(scope=Scope())
    kitchen.save("likes tea", user_id=ANA)
    answer = ana.post(reverse("webui:app_stop", args=[key.uuid]), follow=True).content.decode()
    assert "can neither read nor write your data" in answer
    assert "Let it in again" in answer
    assert kitchen.get(f"{MEMORIES}?user_id={ANA}").json()["errors"][0]["code"] == "access_stopped"
    entry = AuditEntry.objects.latest("pk")
    assert (entry.actor, entry.action, entry.object_type, entry.object_id, entry.user_id) == (
        "person:ana", "app.stop", "core.apikey", str(key.pk), ANA,
    )  # fmt: skip
    ana.post(reverse("webui:app_let_in", args=[key.uuid]))
    assert kitchen.get(f"{MEMORIES}?user_id={ANA}").status_code == 200
    assert AuditEntry.objects.latest("pk").action == "app.let_in"


# --- what it learnt ---------------------------------------------------------------------------------------


def test_what_an_app_learnt_is_listed_in_pages(ana: Client) -> None:
    (key, kitchen), (_, garden) = made(), made("garden", Scope())
    items = [{"content": f"likes number {number}"} for number in range(60)]
    kitchen.post(f"{MEMORIES}/batch", {"memories": items})
    garden.save("likes larkspur", user_id=ANA)
    kitchen.post("/api/memory/main/entries", {"entry": "likes tea"})
    first = page(ana, "app", key.uuid)
    second = ana.get(reverse("webui:app", args=[key.uuid]), {"page": 2}).content.decode()
    assert "60 memories that it made" in first
    assert first.count('class="row"') == 50
    assert second.count('class="row"') == 10
    assert "larkspur" not in first + second
    assert reverse("webui:memory", args=[Memory.objects.get(content="likes number 59").uuid]) in first


def test_what_an_app_learnt_is_shown_as_text(ana: Client) -> None:
    key, kitchen = made("<b>kitchen</b>")
    kitchen.save("<b>Ana</b> likes tea")
    shown = page(ana, "app", key.uuid)
    assert "&lt;b&gt;Ana&lt;/b&gt; likes tea" in shown
    assert "<b>" not in shown


def test_all_that_an_app_learnt_is_forgotten_and_brought_back(ana: Client) -> None:
    key, kitchen = made()
    for content in ("tea", "milk"):
        kitchen.save(f"likes {content}")
    asked = page(ana, "app_forget", key.uuid)
    assert "2 memories that it made" in asked
    assert "this cannot be undone" in asked
    assert Memory.objects.filter(status="active").count() == 2
    answer = ana.post(reverse("webui:app_forget", args=[key.uuid]), follow=True).content.decode()
    assert "This is the receipt" in answer
    assert not Memory.objects.filter(status="active").exists()
    record = AppForgetting.objects.get()
    answer = ana.post(reverse("webui:forgetting_undo", args=[record.uuid]), follow=True).content.decode()
    assert "Its memories are back" in answer
    assert Memory.objects.filter(status="active").count() == 2
    other = browser_of(BEN)
    for name in ("forgetting", "forgetting_state"):
        assert other.get(reverse(f"webui:{name}", args=[record.uuid])).status_code == 404
    assert other.post(reverse("webui:forgetting_undo", args=[record.uuid])).status_code == 404


def test_keys_of_one_name_are_said_not_to_be_told_apart(ana: Client) -> None:
    key, _ = made()
    assert "cannot be told apart" not in page(ana, "app", key.uuid)
    made()
    assert "cannot be told apart" in page(ana, "app", key.uuid)
    assert "cannot be told apart" in page(ana, "app_forget", key.uuid)


# --- connecting -------------------------------------------------------------------------------------------


def typed(browser: Client, code: str) -> Any:
    return browser.post(reverse("webui:connect"), {"code": code})


def waiting(**fields: Any) -> Any:
    options = {"name": "<b>Reading lamp</b>", "permission": Permission.WRITE, "address": "192.0.2.7", **fields}
    return connection_request(**options)


def test_a_person_confirms_an_app_and_may_narrow_it(ana: Client) -> None:
    codes = waiting()
    answer = typed(ana, show_user_code(codes.user_code))
    shown = answer.content.decode()
    assert "&lt;b&gt;Reading lamp&lt;/b&gt;" in shown
    assert "asks to read your data, and to write" in shown
    token = answer.context_data["token"]
    stranger = browser_of(BEN)
    stranger.post(reverse("webui:connect_answer"), {"token": token, "answer": "read"})
    assert ConnectionRequest.objects.get().state == "waiting"
    ana.post(reverse("webui:connect_answer"), {"token": token, "answer": "read"})
    key, _ = connection_fetch(device_code=codes.device_code)
    assert (key.scope, key.permission) == (Scope(ANA), "read")
    assert "app.connect" in AuditEntry.objects.filter(actor="person:ana").values_list("action", flat=True)
    assert "&lt;b&gt;Reading lamp&lt;/b&gt;" in page(ana, "apps")


def test_a_person_refuses_an_app(ana: Client) -> None:
    codes = waiting(permission=Permission.READ)
    answer = typed(ana, codes.user_code)
    assert 'value="write"' not in answer.content.decode()
    answered = {"token": answer.context_data["token"], "answer": "refuse"}
    assert "gets no access" in ana.post(reverse("webui:connect_answer"), answered, follow=True).content.decode()
    assert ConnectionRequest.objects.get().state == "refused"
    assert (
        "This app is no longer waiting"
        in ana.post(reverse("webui:connect_answer"), answered, follow=True).content.decode()
    )


@pytest.mark.parametrize("answered", [{}, {"token": "x", "answer": "read"}, {"answer": "write"}])
def test_an_answer_without_a_code_is_none(ana: Client, answered: dict[str, str]) -> None:
    waiting()
    ana.post(reverse("webui:connect_answer"), answered)
    assert ConnectionRequest.objects.get().state == "waiting"


def test_an_account_guesses_ten_codes_and_no_more(ana: Client) -> None:
    cache.clear()
    codes = waiting()
    for _ in range(10):
        assert "No app is waiting for this code" in typed(ana, "BBBB-BBBB").content.decode()
    answer = typed(ana, codes.user_code)
    assert answer.status_code == 429
    assert "Too many codes tried" in answer.content.decode()
    cache.clear()
    assert "Reading lamp" in typed(ana, codes.user_code).content.decode()


def test_a_code_that_is_over_is_like_none(ana: Client) -> None:
    codes = waiting()
    ConnectionRequest.objects.update(expires_at=utcnow(SYSTEM_CLOCK) - timedelta(seconds=1))
    assert "No app is waiting for this code" in typed(ana, codes.user_code).content.decode()
