"""Searching the timeline of a user in the admin, rows and files alike."""

from collections.abc import Callable
from dataclasses import replace
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from apps.core.domain.errors import UnavailableError
from apps.core.domain.scope import Scope, system_access
from apps.episodic.admin import search
from apps.episodic.admin.search import DROPPED, describe_query
from apps.episodic.domain.window import EventQuery, FileCounts, QueryDiagnostics, TextDiagnostics
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.queries.query import events_query
from apps.retrieval.domain.query import SearchMode
from tests.hostile.support import stored
from tests.integration.admin import timeline
from tests.integration.admin.pages import address, text_of
from tests.integration.episodic.upkeep import an_archived_segment

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("timeline_dir")]

HERE = reverse("admin:episodic_timelineevent_query")


def ask(client: Client, **query: Any) -> Any:
    response = client.get(HERE, query)
    assert response.status_code == 200
    return response


def found(client: Client, **query: Any) -> list[str]:
    """The contents that a search finds, in order."""
    context = ask(client, **query).context
    assert "rows" in context, context["form"].errors
    return [row["event"].content for row in context["rows"]]


def words_of(response: Any) -> str:
    return " ".join(unescape(strip_tags(response.content.decode())).split())


def test_archived_events_are_found_like_those_that_are_rows(operator: Client) -> None:
    an_archived_segment(range(6))  # of each of user-0, user-1 and user-2 two
    timeline.event("a row", user_id="user-1")
    timeline.event("of another user", user_id="ben")
    assert found(operator, user_id="user-1") == ["a row", "event 4", "event 1"]


def test_page_explains_found_and_dropped_events(operator: Client) -> None:
    an_archived_segment(range(6))
    timeline.event("a row", user_id="user-1", event_type="door")
    text = words_of(ask(operator, user_id="user-1", event_types="message"))
    assert "2 events, newest first" in text
    assert "3 events in this scope: 1 as rows, 2 in 1 archived segment, of which 1 had to be read." in text
    assert "2 shown; left out: 1 of other types." in text


def test_row_leads_to_its_page_and_archived_event_has_none(operator: Client) -> None:
    an_archived_segment(range(3))
    event = timeline.event("a row", user_id="user-1")
    text = text_of(operator, HERE, user_id="user-1")
    assert text.count(address(TimelineEvent, "change", event.pk)) == 1
    assert unescape(text).count("a line of a segment's file") == 1


@pytest.mark.parametrize(
    ("query", "contents"),
    [
        ({"user_id": "ana"}, ["tea", "bread", "milk"]),
        ({"user_id": "ben"}, []),
        ({"user_id": "ana", "household_id": "home"}, ["bread"]),
        ({"user_id": "ana", "persona_id": "cook"}, ["milk"]),
        ({"user_id": "ana", "event_types": "shop, no such,"}, ["bread"]),
        ({"user_id": "ana", "since_0": "2026-05-10", "since_1": "11:59:00"}, ["tea"]),
        ({"user_id": "ana", "until_0": "2026-05-10", "until_1": "11:59:00"}, ["bread", "milk"]),
        ({"user_id": "ana", "last_days": "0.001"}, []),
        ({"user_id": "ana", "top_k": "20"}, ["tea", "bread", "milk"]),
        ({"user_id": "ana", "text": "milk"}, ["milk"]),
    ],
)
def test_a_search_is_narrowed(operator: Client, query: dict[str, str], contents: list[str]) -> None:
    timeline.event("milk", persona_id="cook", timestamp=timeline.NOON.replace(hour=10))
    timeline.event("bread", household_id="home", event_type="shop", timestamp=timeline.NOON.replace(hour=11))
    timeline.event("tea")
    assert found(operator, **query)[: len(contents) or 1] == contents


def test_with_text_best_come_first_with_their_scores(operator: Client) -> None:
    timeline.event("The boiler was serviced")
    timeline.event("Ben likes hazelnuts", timestamp=timeline.NOON.replace(hour=13))
    response = ask(operator, user_id="ana", text="boiler")
    assert response.context["rows"][0]["event"].content == "The boiler was serviced"
    assert "score" in words_of(response)
    assert ", best first" in words_of(response)
    assert "Compared by words, and the meaning of 2 events." in words_of(response)


@pytest.mark.parametrize(
    ("query", "field", "message"),
    [
        ({"user_id": ""}, "user_id", "required"),
        ({"user_id": "x" * 201}, "user_id", "at most 200"),
        ({"user_id": "a\x00na"}, "user_id", "Null"),
        ({"user_id": "ana", "last_days": "-1"}, "last_days", "greater than or equal to 0"),
        ({"user_id": "ana", "last_days": "nan"}, "last_days", "Enter a number"),
        ({"user_id": "ana", "last_days": "1e9"}, "last_days", "less than or equal"),
        ({"user_id": "ana", "top_k": "7"}, "top_k", "valid choice"),
        ({"user_id": "ana", "since_0": "soon"}, "since", "valid date"),
        ({"user_id": "ana", "event_types": ",".join(map(str, range(51)))}, "event_types", "At most 50"),
    ],
)
def test_what_cannot_be_asked_is_told_at_its_field(
    operator: Client, query: dict[str, str], field: str, message: str
) -> None:
    context = ask(operator, **query).context
    assert message in str(context["form"].errors[field])
    assert "rows" not in context


def test_mistake_among_further_choices_is_not_hidden(operator: Client) -> None:
    assert '<details class="mh-further">' in text_of(operator, HERE, user_id="ana")
    assert '<details class="mh-further" open>' in text_of(operator, HERE, user_id="ana", since_0="soon")
    assert '<details class="mh-further" open>' in text_of(operator, HERE, user_id="ana", household_id="home")


def test_window_and_last_days_together_are_refused(operator: Client) -> None:
    query = {"user_id": "ana", "last_days": "2", "since_0": "2026-05-10", "since_1": "00:00:00"}
    assert "not both" in words_of(ask(operator, **query))


def test_while_files_are_being_loaded_page_says_so(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any) -> None:
        raise UnavailableError("loading segment 3 of 20")

    monkeypatch.setattr(search, "events_query", refuse)
    response = ask(operator, user_id="ana")
    assert "loading segment 3 of 20" in words_of(response)
    assert "rows" not in response.context


def test_what_damaged_file_held_is_said_to_be_missing(operator: Client) -> None:
    timeline.segment("quarantined", rows="gone", damage="truncated")
    text = text_of(operator, HERE, user_id="ana")
    assert "1 damaged segment could not be read" in text
    assert f"{address(Segment, 'changelist')}?state=quarantined" in text


def test_without_match_page_says_what_finds_more(operator: Client) -> None:
    assert "Nothing matches." in text_of(operator, HERE, user_id="ana")


def test_opening_the_page_asks_nothing(operator: Client) -> None:
    assert "rows" not in ask(operator).context


def test_what_events_say_is_escaped(operator: Client) -> None:
    script = "<script>alert(1)</script>"
    timeline.event(script, event_type=script, source=script, metadata={script: script}, persona_id=script)
    text = text_of(operator, HERE, user_id="ana")
    assert "<script>alert(1)" not in text
    assert text.count("&lt;script&gt;alert(1)") >= 6


def test_searching_changes_nothing(operator: Client) -> None:
    timeline.event()
    before = stored()
    ask(operator, user_id="ana", text="tea")
    assert stored() == before


def test_list_leads_here_and_brings_user_along(operator: Client) -> None:
    link = f"{HERE}?{urlencode({'user_id': 'ana & co'})}"
    assert link.replace("+", "%20") in unescape(
        text_of(operator, address(TimelineEvent, "changelist"), user_id="ana & co")
    )


def test_who_may_not_view_events_may_not_search_them(staff: Callable[..., Client]) -> None:
    assert staff("view_segment").get(HERE).status_code == 403


def test_who_may_view_events_may_search_them(staff: Callable[..., Client]) -> None:
    timeline.event("tea")
    assert found(staff("view_timelineevent"), user_id="ana") == ["tea"]


@pytest.mark.parametrize("text", ["", "event"])
def test_every_reason_for_dropped_event_has_text(operator: Client, text: str) -> None:
    an_archived_segment(range(6))
    query = EventQuery(scope=Scope("user-1"), text=text or None, start=timeline.NOON, event_types=("message",))
    reasons = events_query(system_access("test"), query).diagnostics.dropped
    assert reasons.keys() <= DROPPED.keys()


# How a query is described

ACCOUNT = QueryDiagnostics(
    scanned=1_000,
    returned=20,
    dropped={"outside_window": 900, "event_type": 0, "beyond_top_k": 80},
    hot=100,
    archived=900,
    segments=FileCounts(total=3, read=1, quarantined=0),
    took_ms=1.25,
)


def test_account_leaves_out_reasons_for_which_nothing_was_dropped() -> None:
    assert list(describe_query(ACCOUNT)) == [
        "1,000 events in this scope: 100 as rows, 900 in 3 archived segments, of which 1 had to be read.",
        "20 shown; left out: 900 outside the window, 80 beyond the number asked for.",
        "It took 1.2 ms.",
    ]


def test_the_account_of_nothing() -> None:
    nothing = QueryDiagnostics(0, 0, {}, 0, 0, FileCounts(), 0.04)
    assert list(describe_query(nothing)) == [
        "0 events in this scope: 0 as rows, 0 in 0 archived segments.",
        "0 shown; left out: none.",
        "It took 0.0 ms.",
    ]


@pytest.mark.parametrize(
    ("account", "sentence"),
    [
        (TextDiagnostics(SearchMode.HYBRID, "exact", 256), "Compared by words, and the meaning of 256 events."),
        (TextDiagnostics(SearchMode.VECTOR, "exact", 1), "Compared the meaning of 1 event."),
        (TextDiagnostics(SearchMode.KEYWORD, "exact", 0), "Compared by words."),
        (
            TextDiagnostics(SearchMode.KEYWORD, "exact", 0, "embedding_unavailable"),
            "Compared by words: the embedding model is not answering.",
        ),
    ],
)
def test_the_account_says_how_a_text_was_compared(account: TextDiagnostics, sentence: str) -> None:
    assert sentence in describe_query(replace(ACCOUNT, text=account))
