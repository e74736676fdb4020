"""A person's days: what happened when, in their time zone, and forgetting it for good."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import Account
from apps.core.domain.scope import Scope, system_access
from apps.episodic.domain.event import EventDraft, EventRecord
from apps.episodic.domain.window import EventQuery
from apps.episodic.models import RetentionPolicy
from apps.episodic.selectors import events_query
from apps.episodic.services import RecordResult, event_record
from apps.semantic.models import Ingestion, Memory
from apps.webui.days.page import CountedKind
from tests.integration.episodic.timeline import Timeline
from tests.integration.webui.person import ANA, BEN, browser_of, remember

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("timeline_dir")]

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
DAY = "2026-11-02"


def happened(content: str, at: datetime = NOON, kind: str = "visit", person: str = ANA, **scope: str) -> EventRecord:
    draft = EventDraft(at, kind, content, Scope(person, **scope))
    result = event_record(access=system_access("key:kitchen"), draft=draft)
    assert isinstance(result, RecordResult)
    return result.record


def page(browser: Client, span: str = DAY, **query: str) -> str:
    return browser.get(reverse("webui:days_span", args=[span]), query).content.decode()


def question(browser: Client, span: str = DAY, **query: str) -> str:
    return browser.get(reverse("webui:days_forget", args=[span]), query).content.decode()


def forget(browser: Client, span: str = DAY, **sent: str) -> str:
    return browser.post(reverse("webui:days_forget", args=[span]), sent, follow=True).content.decode()


def left() -> list[str]:
    events = events_query(system_access("test"), EventQuery(top_k=1_000)).events
    return sorted(event.content for event in events)


def made_of(event: EventRecord, content: str) -> Memory:
    """A memory that the bridge has made of an event."""
    memory = remember(event.key.user_id, content)
    Ingestion.objects.create(
        event_id=event.uuid, user_id=event.key.user_id, event_type=event.event_type, timestamp=event.timestamp,
        status="linked", memory=memory, came_from_events=True, created_at=NOON, next_try_at=NOON, ended_at=NOON,
    )  # fmt: skip
    return memory


def in_zone(name: str) -> Client:
    browser = browser_of(ANA)
    Account.objects.filter(person_id=ANA).update(time_zone=name)
    return browser


# --- what is shown ----------------------------------------------------------------------------------------


def test_a_day_has_rows_and_archive_in_one_list(ana: Client) -> None:
    happened("Breakfast with Mira", NOON - timedelta(hours=4))
    Timeline().archive()
    happened("Tea with Noor", NOON)
    happened("Somebody else's lunch", person=BEN)
    text = page(ana)
    assert text.index("Tea with Noor") < text.index("Breakfast with Mira")
    assert "2 events, latest first" in text
    assert "lunch" not in text
    assert "you said so" in text


def test_a_day_names_the_memory_made_of_an_event(ana: Client) -> None:
    memory = made_of(happened("Tea with Noor"), "Noor drinks green tea")
    text = page(ana)
    assert "Noor drinks green tea" in text
    assert reverse("webui:memory", args=[memory.uuid]) in text


def test_days_beside_are_those_with_events(ana: Client) -> None:
    happened("Long ago", NOON - timedelta(days=400))
    happened("Now")
    happened("Later", NOON + timedelta(days=9))
    text = page(ana)
    for span in ("2025-09-28", "2026-11-11"):
        assert f'href="{reverse("webui:days_span", args=[span])}"' in text
    assert 'rel="next"' not in page(ana, "2026-11-11")


def test_the_calendar_has_the_numbers_in_words(ana: Client) -> None:
    for minute in range(3):
        happened(f"Visit {minute}", NOON + timedelta(minutes=minute))
    happened("Order", NOON + timedelta(days=1), "order")
    text = page(ana, "2026")
    assert "4 events in 2026" in text
    assert re.search(r'class="heat-4"><a [^>]*aria-label="[^"]*: 3 events"', text)
    assert re.search(r'class="heat-3"><a [^>]*aria-label="[^"]*: 1 event"', text)
    text = page(ana, "2026", kind=CountedKind("order", 0).token)
    assert "1 event in 2026" in text
    assert "3 events" not in text
    assert "4 events" in page(ana, "2026-11")
    assert ana.get(reverse("webui:days")).status_code == 200


def test_a_kind_is_chosen_without_its_name_in_the_address(ana: Client) -> None:
    happened("Talk", kind="therapy")
    happened("Cake", kind="meal")
    text = page(ana, kind=CountedKind("therapy", 0).token)
    assert "Talk" in text
    assert "Cake" not in text
    assert "kind=therapy" not in text
    assert "Cake" in page(ana, kind="therapy")


@pytest.mark.parametrize(
    ("zone", "moment", "day"),
    [
        ("Asia/Taipei", datetime(2026, 11, 2, 15, 59, 59, tzinfo=UTC), "2026-11-02"),
        ("Asia/Taipei", datetime(2026, 11, 2, 16, 0, tzinfo=UTC), "2026-11-03"),
        ("America/New_York", datetime(2026, 11, 1, 4, 0, tzinfo=UTC), "2026-11-01"),
        ("America/New_York", datetime(2026, 11, 2, 4, 59, tzinfo=UTC), "2026-11-01"),
        ("America/New_York", datetime(2026, 11, 2, 5, 0, tzinfo=UTC), "2026-11-02"),
        ("Europe/Berlin", datetime(2026, 3, 29, 21, 59, tzinfo=UTC), "2026-03-29"),
        ("Europe/Berlin", datetime(2026, 3, 29, 22, 0, tzinfo=UTC), "2026-03-30"),
    ],
)
def test_an_event_is_on_the_day_of_the_persons_zone(zone: str, moment: datetime, day: str) -> None:
    browser = in_zone(zone)
    happened("Tea with Noor", moment)
    assert "Tea with Noor" in page(browser, day)
    for wrong in (-1, 1):
        beside = (datetime.fromisoformat(day) + timedelta(days=wrong)).date().isoformat()
        assert "Tea with Noor" not in page(browser, beside)
    assert f'href="{reverse("webui:days_span", args=[day])}"' in page(browser, day[:7])
    forget(browser, day)
    assert left() == []


@pytest.mark.parametrize("span", ["2026-02-30", "2026-13", "20261", "1899", "2201", "x", "2026-11-02-1", "٢٠٢٦"])
def test_what_is_no_day_is_not_found(ana: Client, span: str) -> None:
    assert ana.get(reverse("webui:days_span", args=[span])).status_code == 404
    assert ana.post(reverse("webui:days_forget", args=[span])).status_code == 404


def test_pages_of_a_busy_day_lead_on(ana: Client) -> None:
    for number in range(60):
        happened(f"Visit number {number:02}", NOON + timedelta(seconds=number))
    text = page(ana)
    assert "Visit number 59" in text
    assert "Visit number 09" not in text
    older = re.search(r'href="(\?page=[^"]+)">Earlier', text)
    assert older
    text = ana.get(reverse("webui:days_span", args=[DAY]) + older[1]).content.decode()
    assert "Visit number 09" in text
    assert "Visit number 10" not in text
    assert "Visit number 59" in page(ana, page="nonsense")


def test_a_page_says_what_is_kept_how_long(ana: Client) -> None:
    RetentionPolicy.objects.all().delete()
    happened("Tea", household_id="home")
    text = page(ana)
    assert "Events that are yours alone are kept until you forget them" in text
    assert "<bdi>home</bdi> are kept until" in text
    RetentionPolicy.objects.create(household_id="home", days=30, is_enabled=True)
    RetentionPolicy.objects.create(household_id="", days=1, is_enabled=True)
    text = page(ana)
    assert "<bdi>home</bdi> are kept for 30 days" in text
    assert "events that are yours alone are kept for 1 day," in text


# --- what is forgotten ------------------------------------------------------------------------------------


def test_a_day_is_counted_before_it_is_forgotten(ana: Client) -> None:
    event = happened("Tea with Noor")
    Timeline().archive()
    happened("Cake with Noor", kind="meal")
    happened("The day after", NOON + timedelta(days=1))
    happened("Of another", person=BEN)
    memory = made_of(event, "Noor drinks green tea")
    text = question(ana)
    assert "2 events would be forgotten" in text
    assert "<bdi>meal</bdi>: 1" in text
    assert "1 memory was made from these events" in text
    assert left() == ["Cake with Noor", "Of another", "Tea with Noor", "The day after"]
    text = forget(ana)
    assert "2 events are forgotten for good" in text
    assert left() == ["Of another", "The day after"]
    memory.refresh_from_db()
    assert memory.status == "active"


def test_memories_made_of_a_day_are_forgotten_if_wished(ana: Client) -> None:
    mine = made_of(happened("Tea with Noor"), "Noor drinks green tea")
    other = made_of(happened("The day after", NOON + timedelta(days=1)), "Noor swims")
    text = forget(ana, memories="1")
    assert "1 memory made from them is forgotten too" in text
    assert {one.content: one.status for one in Memory.objects.all()} == {
        mine.content: "deleted",
        other.content: "active",
    }


@pytest.mark.parametrize(
    ("span", "gone"), [("2026-11-02", 1), ("2026-11", 2), ("2026", 3), ("all", 4)], ids=["day", "month", "year", "all"]
)
def test_a_kind_is_forgotten_within_a_time(ana: Client, span: str, gone: int) -> None:
    for days in (0, 3, -100, -400):
        happened(f"Talk {days}", NOON + timedelta(days=days), "therapy")
        happened(f"Cake {days}", NOON + timedelta(days=days), "meal")
    token = CountedKind("therapy", 0).token
    text = question(ana, span, kind=token)
    assert re.search(rf"{gone} events? of the kind “therapy” would be forgotten", text)
    forget(ana, span, kind=token)
    assert len([content for content in left() if content.startswith("Cake")]) == 4
    assert len([content for content in left() if content.startswith("Talk")]) == 4 - gone


def test_a_kind_that_is_gone_forgets_nothing_else(ana: Client) -> None:
    happened("Tea with Noor")
    assert "nothing of this kind" in forget(ana, kind=CountedKind("therapy", 0).token)
    assert left() == ["Tea with Noor"]


def test_one_event_is_forgotten_from_its_page(ana: Client) -> None:
    event, other = happened("Tea with Noor"), happened("Cake with Noor", kind="meal")
    memory = made_of(event, "Noor drinks green tea")
    address = reverse("webui:days_event", args=[event.uuid])
    text = ana.get(address).content.decode()
    assert "This cannot be undone" in text
    assert "you can bring that back" in text
    answer = ana.post(reverse("webui:days_event_forget", args=[event.uuid]), {"memories": "1"})
    assert answer["Location"] == reverse("webui:days_span", args=[DAY])
    assert left() == [other.content]
    memory.refresh_from_db()
    assert memory.status == "deleted"
    assert ana.get(address).status_code == 404


def test_another_persons_event_is_unknown(ana: Client) -> None:
    theirs = happened("Of another", person=BEN)
    assert ana.get(reverse("webui:days_event", args=[theirs.uuid])).status_code == 404
    assert ana.post(reverse("webui:days_event_forget", args=[theirs.uuid])).status_code == 404
    assert ana.get(reverse("webui:days_event", args=[UUID(int=1)])).status_code == 404
    forget(ana, "all")
    assert left() == ["Of another"]


def test_a_copy_is_kept_before(ana: Client) -> None:
    happened("Tea with Noor")
    happened("Cake with Noor", kind="meal")
    happened("Of another", person=BEN)
    answer: Any = ana.get(reverse("webui:days_copy", args=[DAY]), {"kind": CountedKind("meal", 0).token})
    [line] = [json.loads(one) for one in b"".join(answer.streaming_content).splitlines()]
    assert (line["content"], line["kind"]) == ("Cake with Noor", "meal")
    assert "attachment" in answer["Content-Disposition"]
    answer = ana.get(reverse("webui:days_copy", args=["all"]))
    assert b"".join(answer.streaming_content).count(b"\n") == 2


def test_what_goes_on_in_the_background_is_said(ana: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from apps.episodic.services import Forgotten
    from apps.webui.days import forget as module

    happened("Tea with Noor")
    monkeypatch.setattr(module, "events_forget", lambda **_: Forgotten(0, goes_on=True, damaged=1))
    text = forget(ana)
    assert "The rest is being forgotten now" in text
    assert "damaged" in text
