"""*Activity*: one stream of what happened, grouped, filtered, and bounded."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_q.models import Failure

from apps.audit.services import record
from apps.cockpit.activity import sources
from apps.core.domain.scope import Access, Permission, Scope, system_access
from apps.events.models import Event
from apps.notes.services import main_append
from apps.rules.services import rule_register
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Conflict, Memory
from apps.semantic.services import memory_delete, memory_save
from tests.integration.admin import timeline
from tests.integration.admin.pages import address, text_of
from tests.integration.llm import configuring

pytestmark = pytest.mark.django_db

HERE, NEW = reverse("cockpit_activity"), reverse("cockpit_activity_new")
KITCHEN = Access(Scope(), Permission.WRITE, "key:kitchen assistant")
Rows = list[tuple[str, str]]


def save(content: str, user: str = "ana", access: Access = KITCHEN, **scope: str) -> Memory:
    return memory_save(access=access, draft=MemoryDraft(content, scope=Scope(user, **scope))).memory


def rows(client: Client, **query: str) -> Rows:
    """Who did what, the latest first, besides the viewer's own sign-in."""
    return [(row["actor"], row["words"]) for row in page(client, **query)["rows"] if row["words"] != "signed in"]


def page(client: Client, **query: str) -> Any:
    response = client.get(HERE, query)
    assert response.status_code == 200
    return response.context


def test_what_one_key_saved_for_one_person_is_one_row(operator: Client) -> None:
    for what in ("She swims.", "Her cat is old", "Tea at five", "A blue car", "Chess on Monday"):
        save(what)
    save("Ben likes tea", user="ben")
    assert rows(operator) == [
        ("kitchen assistant", "saved a memory of ben"),
        ("kitchen assistant", "saved 5 memories of ana"),
    ]
    last = page(operator)["rows"][-2]  # before it the viewer signed in
    assert [one.words for one in last["objects"]] == ["Chess on Monday", "A blue car", "Tea at five"]
    assert last["more"] == 2


def test_all_kinds_are_in_the_stream(operator: Client, notes_dir: Any) -> None:
    now = timezone.now()
    rita = system_access("admin:rita")
    memory = save("Ana prefers tea")
    memory_delete(access=rita, uuid=memory.uuid)
    rule_register(document={"name": "kitchen"}, actor="admin:rita")
    main_append(access=rita, user_id="ana", entry="Ana prefers tea")
    configuring.call(outcome="refused", guard="budget", reason="budget_exceeded", started_at=now)
    configuring.call(started_at=now)
    Failure.objects.create(
        id=uuid4().hex, name="venus-east", func="apps.episodic.tasks.seal", started=now, stopped=now, success=False
    )
    found = rows(operator)
    assert ("rita", "deleted a memory of ana") in found
    assert ("rita", "added the rule kitchen") in found
    assert ("rita", "added to a note of ana") in found
    assert ("The hub", "could not finish episodic: seal") in found
    assert [words for _, words in found if "model call" in words] == ["had a model call refused (extract, budget)"]


def test_a_decision_leads_to_its_receipt_and_to_undo(operator: Client) -> None:
    save("Hana works at Siemens.", user="hana")
    save("Hana does not work at Siemens.", user="hana")
    receipt = Conflict.objects.get()
    [row] = page(operator, kind="decisions")["rows"]
    [one] = row["objects"]
    url = address(Conflict, "change", receipt.uuid)
    assert (one.words, one.url, one.undo) == ("Hana does not work at Siemens.", url, url)


def test_who_may_not_revert_gets_no_undo_and_without_memories_no_words(staff: Callable[..., Client]) -> None:
    save("Hana works at Siemens.", user="hana")
    save("Hana does not work at Siemens.", user="hana")
    client = staff("view_conflict")
    [row] = page(client)["rows"]
    assert [(one.words, one.undo) for one in row["objects"]] == [("Receipt", "")]
    assert "Siemens" not in text_of(client, HERE)


def test_the_stream_is_filtered_by_actor_person_and_kind(operator: Client) -> None:
    save("Ana prefers tea")
    save("Ben prefers tea", user="ben", access=system_access("admin:rita"))
    rule_register(document={"name": "kitchen"}, actor="admin:rita")
    assert rows(operator, actor="rita", kind="memories") == [("rita", "saved a memory of ben")]
    assert rows(operator, actor="key:kitchen assistant") == [("kitchen assistant", "saved a memory of ana")]
    assert rows(operator, person="ben") == [("rita", "saved a memory of ben")]
    assert rows(operator, person="nul\x00l") == []
    assert rows(operator, kind="rules") == [("rita", "added the rule kitchen")]


def test_pages_have_every_entry_once(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.cockpit.activity.page.GROUPS", 3)
    monkeypatch.setattr(sources, "LIMIT", 4)
    monkeypatch.setattr(sources, "WINDOW", 6)
    for number in range(6):
        save(f"Fact {number}", user=f"user{number % 4}", access=system_access(f"key:k{number}"))
        configuring.call(outcome="failed", reason=f"r{number}", started_at=timezone.now(), user_id=f"user{number}")
    seen: list[str] = []
    query: dict[str, str] = {}
    for _ in range(30):
        context = page(operator, **query)
        seen += [row["words"] + row["actor"] for row in context["rows"] if row["words"] != "signed in"]
        if not context["older"]:
            break
        query = dict(re.findall(r"(\w+)=([^&]+)", context["older"]))
    assert len(seen) == len(set(seen)) == 12


def test_a_search_that_was_cut_off_says_how_far_it_went(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "WINDOW", 5)
    save("Ana prefers tea")
    for number in range(7):
        save(f"Fact {number}", user="ben")
    text = text_of(operator, HERE, person="ana")
    assert "Nothing happened in the part of this time range that was searched." in text
    assert "Search further back" in text
    context = page(operator, person="ana")
    while not context["rows"]:
        context = page(operator, person="ana", before=context["older"].split("before=")[1])
    assert context["rows"][0]["words"] == "saved a memory of ana"


def test_an_account_with_a_bound_sees_its_own_scope_only(bound: Callable[..., Client], notes_dir: Any) -> None:
    save("Ana prefers tea", household_id="home")
    save("Ben hides the key", user="ben", household_id="office")
    save("Carl has no household", user="carl")
    main_append(access=system_access("admin:rita"), user_id="ana", entry="secret")
    rule_register(document={"name": "kitchen"}, actor="admin:rita")
    timeline.warning("write_latency")
    configuring.call(outcome="failed", reason="timeout", started_at=timezone.now(), user_id="ana")
    client = bound(household_id="home")
    assert rows(client) == [("kitchen assistant", "saved a memory of ana")]
    text = text_of(client, HERE)
    assert "Ben" not in text
    assert "office" not in text
    assert page(client)["histogram"].total == 1
    assert {kind.name for kind in page(client)["kinds"]} == {"memories", "decisions", "timeline", "access"}


def test_new_entries_wait_until_they_are_asked_for(operator: Client) -> None:
    save("Ana prefers tea")
    newest = page(operator)["newest"]
    assert "new" not in operator.get(NEW, {"newest": newest}).content.decode().split(">")[1]
    save("Ana has two cats")
    save("Ben prefers coffee", user="ben")
    assert "2 new" in text_of(operator, NEW, newest=newest)
    assert "1 new" in text_of(operator, NEW, newest=newest, person="ben")


def test_new_entries_of_others_are_not_counted_for_a_bound_account(bound: Callable[..., Client]) -> None:
    client = bound(household_id="home")
    newest = page(client)["newest"]
    save("Ben hides the key", user="ben", household_id="office")
    assert "new</a>" not in text_of(client, NEW, newest=newest)
    save("Ana prefers tea", household_id="home")
    assert "1 new" in text_of(client, NEW, newest=newest)


def test_bars_narrow_the_stream_to_their_span(operator: Client) -> None:
    for number, hours in enumerate((0, 0, 5)):
        save(f"Fact {number}", user=f"user{number}")
        moved = timezone.now() - timedelta(hours=hours, seconds=1)
        Event.objects.filter(pk=Event.objects.latest("pk").pk).update(created_at=moved)
    context = page(operator)
    full = [one for one in context["bars"] if one["bar"].count]
    assert [one["bar"].count for one in full] == [1, 3]  # two memories, and the viewer's sign-in
    narrowed = operator.get(full[0]["url"]).context
    assert [row["words"] for row in narrowed["rows"]] == ["saved a memory of user2"]
    assert narrowed["histogram"].total == 1


def test_a_span_that_makes_no_sense_is_the_usual_one(operator: Client) -> None:
    save("Ana prefers tea")
    for query in ({"from": "x", "to": "y"}, {"from": "2026-05-02T00:00", "to": "2026-05-01T00:00"}, {"range": "900y"}):
        assert len(rows(operator, **query)) == 1
    assert page(operator, **{"from": "0001-01-01T00:00+14:00", "to": "9999-12-31T23:59-14:00"})["filters"].start is None


def test_what_is_stored_is_shown_as_text(operator: Client) -> None:
    script = '<script>alert("x")</script>'
    save(script, user=script, access=system_access(f"key:{script}"))
    text = text_of(operator, HERE, actor=script, person=script)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text
    assert rows(operator)[0] == (script, f"saved a memory of {script}")


def test_who_may_see_no_kind_gets_a_reason(staff: Callable[..., Client]) -> None:
    save("Ana prefers tea")
    text = text_of(staff("view_price"), HERE)
    assert "cannot see any entries" in text
    assert "Ana" not in text


def test_more_entries_take_no_more_queries(operator: Client, django_assert_max_num_queries: Any) -> None:
    def fill(count: int, offset: int) -> None:
        for number in range(offset, offset + count):
            save(f"Fact {number}", user=f"user{number}", access=system_access(f"key:k{number}"))

    fill(2, 0)
    text_of(operator, HERE)
    with django_assert_max_num_queries(60) as few:
        text_of(operator, HERE)
    fill(8, 2)
    with django_assert_max_num_queries(len(few)):
        text_of(operator, HERE)


def test_times_have_their_zone(operator: Client) -> None:
    save("Ana prefers tea")
    at: datetime = Event.objects.latest("pk").created_at
    assert f"{at:%Y-%m-%d %H:%M:%S} UTC" in text_of(operator, HERE)


def test_acts_that_no_event_reports_come_from_the_audit(operator: Client) -> None:
    for action, outcome in (("session.sign_in", "refused"), ("api_key.rotate", "done"), ("memory.delete", "done")):
        record(actor_kind="person", actor="rita", action=action, outcome=outcome)
    assert rows(operator, kind="access", actor="rita") == [
        ("rita", "rotated an API key"),
        ("rita", "signed in (refused)"),
    ]
