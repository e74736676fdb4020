"""The page *Timeline*: bars, lanes, ranges, words, pages and new events, within the bound of the viewer."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.accounts.models import Account
from apps.core.domain.errors import UnavailableError
from apps.core.domain.scope import Scope
from apps.episodic.admin import timeline_page
from apps.episodic.domain.histogram import MAX_BUCKETS
from tests.effort import examples
from tests.hostile.support import stored
from tests.integration.admin import timeline
from tests.integration.admin.pages import text_of
from tests.integration.episodic.upkeep import START, an_archived_segment, record

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("timeline_dir")]

HERE = reverse("admin:episodic_timelineevent_timeline")
NEW = reverse("admin:episodic_timelineevent_new")
TYPES = ["message", "visit", "order"]


def page(client: Client, url: str = HERE, **query: Any) -> Any:
    response = client.get(url, query)
    assert response.status_code == 200
    return response


def listed(client: Client, **query: Any) -> list[str]:
    """The contents on the first page of the list, in order."""
    return [row["words"] for row in page(client, **query).context["rows"]]


def pages_of(client: Client, **query: Any) -> Iterator[Any]:
    """Each page of a list, as its links lead to them."""
    context = page(client, **query).context
    yield context
    while context["older"]:
        split = urlsplit(context["older"])
        context = page(client, split.path, **dict(parse_qsl(split.query))).context
        yield context


def at(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M")


@pytest.fixture
def everything() -> None:
    """Events in a file and as rows, of three types, every quarter of an hour from START on."""
    for numbers in (range(90), range(90, 150)):
        for number in numbers:
            scope = Scope(f"user-{number % 3}", "home" if number % 2 else "office")
            moment = START + timedelta(minutes=15 * number)
            record([number], timestamp=min(moment, START + timedelta(hours=23)) - timedelta(seconds=number),
                   event_type=TYPES[number % 3], scope=scope)  # fmt: skip
        if numbers.start == 0:
            an_archived_segment([])


@pytest.fixture
def reviewer() -> Client:
    """A browser of a colleague who sees one household."""
    user = User.objects.create_user("rita", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_timelineevent", "view_segment"]))
    Account.objects.create(login=user, household_id="home")
    client = Client()
    client.force_login(user)
    return client


def test_rows_and_archived_events_are_one_list_in_pages(operator: Client, everything: None) -> None:
    rows = [row for context in pages_of(operator, range="all") for row in context["rows"]]
    assert len(rows) == len({row["url"] for row in rows}) == 150
    times = [row["at"] for row in rows]
    assert times == sorted(times, reverse=True)
    first, second, third = pages_of(operator, range="all")
    assert [len(one["rows"]) for one in (first, second, third)] == [50, 50, 50]
    newer = urlsplit(second["newer"])
    assert page(operator, newer.path, **dict(parse_qsl(newer.query))).context["rows"] == first["rows"]


def test_each_event_opens_its_page(operator: Client, everything: None) -> None:
    for context in pages_of(operator, range="all"):
        for row in (context["rows"][0], context["rows"][-1]):
            text = text_of(operator, row["url"])
            assert row["words"] in text
            assert row["url"].split("/")[-2] in text
    archived = [row for context in pages_of(operator, range="all") for row in context["rows"]][-1]
    shown = page(operator, archived["url"]).context
    assert (shown["kept"], "Archived" in shown["segment"]) == ("a line of a segment's file", True)
    # Without its time, or with a wrong one, it is found as well.
    for hint in ("", "?at=0", "?at=x"):
        assert archived["words"] in text_of(operator, archived["url"].split("?")[0] + hint)


def test_an_id_in_the_box_opens_the_event(operator: Client) -> None:
    event = timeline.event("this one")
    answer = operator.get(HERE, {"q": str(event.uuid)})
    assert answer.status_code == 302
    assert "this one" in text_of(operator, answer["Location"])
    assert operator.get(HERE, {"q": str(uuid4())}).status_code == 200


def test_an_unknown_event_is_not_found(operator: Client) -> None:
    assert operator.get(reverse("admin:episodic_timelineevent_event", args=[uuid4()])).status_code == 404


def test_bars_and_lanes_add_up_to_the_list_whatever_is_asked(operator: Client, everything: None) -> None:
    moments = st.integers(-2, 26).map(lambda hours: START + timedelta(hours=hours))

    @settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.sampled_from(["", *TYPES]), st.sampled_from(["", "user-0", "user-1", "other"]),
        st.none() | st.tuples(moments, moments).map(sorted), st.sampled_from(["all", "week"]),
    )  # fmt: skip
    def check(kind: str, user: str, ends: Any, span: str) -> None:
        query = {"range": span, "type": kind, "user": user}
        query |= {"from": at(ends[0]), "to": at(ends[1])} if ends and ends[0] < ends[1] else {}
        contexts = list(pages_of(operator, **query))
        drawing, rows = contexts[0]["drawing"], [row for one in contexts for row in one["rows"]]
        assert len(drawing.bars) <= MAX_BUCKETS <= 200
        assert contexts[0]["found"].split()[0] == str(len(rows))
        shown = [bar for bar in drawing.bars if bar.is_in] if drawing.first is not None else drawing.bars
        assert sum(bar.count for bar in drawing.bars) == drawing.total
        assert len(rows) <= sum(bar.count for bar in shown)
        if not ends or ends[0] >= ends[1]:
            assert len(rows) == drawing.total
            assert kind or sum(lane.total for lane in drawing.lanes) == drawing.total
            assert not kind or {lane.name: lane.total for lane in drawing.lanes}.get(kind, 0) == len(rows)

    check()


def test_a_range_of_bars_lists_what_they_count(operator: Client, everything: None) -> None:
    whole = page(operator, range="all").context["drawing"]
    first = next(number for number, bar in enumerate(whole.bars) if bar.count)
    last = first + 3
    query = {"range": "all", "from": whole.bars[first].begins, "to": whole.bars[last].ends}
    context = page(operator, **query).context
    drawing = context["drawing"]
    # The bars stay, so that the range can be moved on.
    assert [bar.count for bar in drawing.bars] == [bar.count for bar in whole.bars]
    assert (drawing.first, drawing.last) == (first, last)
    counted = sum(bar.count for bar in whole.bars[first : last + 1])
    assert sum(len(one["rows"]) for one in pages_of(operator, **query)) == counted > 0


def test_a_range_beyond_the_span_becomes_the_span(operator: Client, everything: None) -> None:
    start, end = START + timedelta(hours=2), START + timedelta(hours=4)
    context = page(operator, range="hour", **{"from": at(start), "to": at(end)}).context
    bars = context["drawing"].bars
    assert bars[0].start <= start
    assert bars[-1].end >= end
    assert bars[-1].end - bars[0].start <= timedelta(hours=3)
    assert context["rows"]
    assert all(start <= row["at"] < end for row in context["rows"])


@pytest.mark.parametrize(("span", "found"), [("hour", 1), ("day", 2), ("week", 3), ("month", 4), ("all", 5)])
def test_spans_end_now(operator: Client, span: str, found: int) -> None:
    for days in (0.01, 0.5, 3, 20, 300):
        timeline.event(f"{days}", timestamp=timezone.now() - timedelta(days=days))
    assert len(listed(operator, range=span)) == found


def test_lanes_narrow_to_their_type_and_widen_again(operator: Client, everything: None) -> None:
    lanes = page(operator, range="all").context["lanes"]
    assert {one["lane"].name: one["lane"].total for one in lanes} == dict.fromkeys(TYPES, 50)
    context = page(operator, lanes[0]["url"]).context
    assert {row["type"] for row in context["rows"]} == {lanes[0]["lane"].name}
    current = next(one for one in context["lanes"] if one["is_current"])
    assert page(operator, current["url"]).context["found"] == "150 events"


def test_rare_types_share_a_lane(operator: Client) -> None:
    for number in range(20):
        timeline.event(f"{number}", event_type=f"type-{number}")
    lanes = page(operator, range="all").context["drawing"].lanes
    assert len(lanes) == 13
    assert (lanes[-1].name, lanes[-1].total) == ("8 further types", 8)


def test_people_are_chosen_from_those_there_are(operator: Client, everything: None) -> None:
    assert page(operator).context["people"] == ["user-0", "user-1", "user-2"]
    rows = [row for one in pages_of(operator, range="all", user="user-1") for row in one["rows"]]
    assert len(rows) == 50
    assert all(row["whose"].startswith("user-1 / ") for row in rows)


def test_words_find_the_best_of_rows_and_files(operator: Client, everything: None) -> None:
    timeline.event("The boiler was serviced", user_id="user-1")
    context = page(operator, range="all", q="boiler").context
    assert context["rows"][0]["words"] == "The boiler was serviced"
    assert context["rows"][0]["score"]
    assert sum(bar.count for bar in context["drawing"].bars) == len(context["rows"])
    assert ", best first" in text_of(operator, HERE, range="all", q="boiler")
    assert "event 7" in listed(operator, range="all", q="event 7", user="user-1")[0]


def test_new_events_wait(operator: Client) -> None:
    now = timezone.now()
    timeline.event("old", timestamp=now, recorded_at=now)
    found = re.search(r'id="timeline-new"[^>]* hx-get="([^"]+)"', text_of(operator, HERE))
    assert found is not None
    fragment = found[1].replace("&amp;", "&")
    assert "new" not in re.sub(r"<p[^>]*>", "", text_of(operator, fragment))
    for number in range(2):
        timeline.event(f"{number}", timestamp=now, recorded_at=now + timedelta(seconds=number + 1))
    timeline.event("long ago", timestamp=now - timedelta(days=90), recorded_at=now + timedelta(seconds=9))
    assert ">2 new</a>" in text_of(operator, fragment)


def test_new_events_are_of_the_filters(operator: Client) -> None:
    now = timezone.now()
    timeline.event("1", timestamp=now, recorded_at=now, event_type="door")
    timeline.event("2", timestamp=now, recorded_at=now, user_id="ben")
    for query, new in (({}, 2), ({"type": "door"}, 1), ({"user": "ben"}, 1), ({"user": "eve"}, 0)):
        assert operator.get(NEW, query).context["new"] == new


def test_an_account_with_a_bound_sees_counts_of_its_own(reviewer: Client, everything: None) -> None:
    context = page(reviewer, range="all").context
    assert context["found"] == "75 events"
    assert context["drawing"].total == sum(lane.total for lane in context["drawing"].lanes) == 75
    assert {row["whose"].split(" / ")[1] for one in pages_of(reviewer, range="all") for row in one["rows"]} == {"home"}
    assert "timeline_health" not in context or context["timeline_health"] is None
    User.objects.create_superuser("boss")
    timeline.event("of another household", user_id="secret", household_id="office", event_type="hidden")
    for query in ({}, {"user": "secret"}, {"type": "hidden"}, {"q": "another household"}):
        text = text_of(reviewer, HERE, range="all", **query)
        shown = re.sub(r'(?:value|href|hx-get|data-brush|aria-label)="[^"]*"', "", text)
        assert "of another household" not in text
        assert not re.search(r"<option[^>]*secret", text)
        assert "1 event" not in shown
    assert reviewer.get(NEW, {"range": "all", "user": "secret"}).context["new"] == 0


def test_an_account_with_a_bound_opens_no_other_event(reviewer: Client) -> None:
    other = timeline.event("of another household", household_id="office")
    own = timeline.event("of my own", household_id="home")
    urls = [reverse("admin:episodic_timelineevent_event", args=[one.uuid]) for one in (other, own)]
    assert [reviewer.get(url).status_code for url in urls] == [404, 200]
    assert reviewer.get(HERE, {"q": str(other.uuid)}).status_code == 200


def test_who_may_not_view_events_sees_no_timeline(staff: Callable[..., Client]) -> None:
    client = staff("view_segment")
    event = reverse("admin:episodic_timelineevent_event", args=[timeline.event().uuid])
    assert [client.get(url).status_code for url in (HERE, NEW, event)] == [403, 403, 403]


@pytest.mark.parametrize(
    "query",
    [
        {"range": "no such"}, {"from": "soon"}, {"from": "2026-05-11T00:00", "to": "2026-05-01T00:00"},
        {"from": "0001-01-01T00:00"}, {"to": "9999-12-31T00:00"}, {"q": "\x00"}, {"user": "x" * 999},
        {"from": "2026-05-01T00:00"}, {"to": "2026-05-01T00:00"},
        {"from": "1500-01-01T00:00", "to": "9000-01-01T00:00"},
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_left_out(operator: Client, query: dict[str, str]) -> None:
    timeline.event()
    text_of(operator, HERE, **query)
    text_of(operator, NEW, **query)


def test_a_cursor_that_is_none_is_said(operator: Client) -> None:
    assert "start again without a cursor" in text_of(operator, HERE, cursor="older-x")


def test_an_empty_timeline_says_how_events_come(operator: Client) -> None:
    assert "Events appear as applications record them." in text_of(operator, HERE)


def test_an_empty_span_leads_to_the_last_event(operator: Client) -> None:
    timeline.event()
    text = text_of(operator, HERE)
    assert "The last event was at 2026-05-10 12:00 UTC" in text
    assert f"{HERE}?range=all" in text


def test_while_files_are_loaded_the_page_says_so(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise UnavailableError("The timeline is being loaded.")

    monkeypatch.setattr(timeline_page, "event_histogram", refuse)
    assert "The timeline is being loaded." in text_of(operator, HERE)


def test_what_events_say_is_escaped(operator: Client) -> None:
    script = "<script>alert(1)</script>"
    event = timeline.event(script, event_type=script, source=script, user_id=script, metadata={script: script})
    url = reverse("admin:episodic_timelineevent_event", args=[event.uuid])
    for text in (
        text_of(operator, HERE, range="all"),
        text_of(operator, HERE, range="all", q=script),
        text_of(operator, url),
    ):
        assert "<script>alert(1)" not in text
        assert "&lt;script&gt;alert(1)" in text


def test_looking_changes_nothing(operator: Client, everything: None) -> None:
    before = stored()
    for query in ({}, {"range": "all"}, {"q": "event 4"}, {"user": "user-1"}):
        text_of(operator, HERE, **query)
    assert stored() == before


def test_more_events_take_no_more_queries(operator: Client, django_assert_max_num_queries: Any) -> None:
    for number in range(60):
        timeline.event(f"{number}", event_type=f"type-{number % 9}")
    text_of(operator, HERE, range="all")
    with django_assert_max_num_queries(20):
        text_of(operator, HERE, range="all")
