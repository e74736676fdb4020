"""Queries of the timeline over REST (spec 000, Episodic Retrieval Controls; DESIGN section 5)."""

from datetime import timedelta
from typing import Any

import pytest

from apps.core.domain.clock import SYSTEM_CLOCK, DeterministicClock, utcnow
from apps.core.domain.scope import Permission, Scope
from apps.episodic.domain.segment_state import SegmentState
from tests.api import Api, api_for, error_attrs
from tests.integration.episodic.timeline import Timeline, draft, segments

pytestmark = pytest.mark.django_db

QUERY = "/api/episodic/query"
HOUR = timedelta(hours=1)
NOW = utcnow(SYSTEM_CLOCK) - HOUR


@pytest.fixture
def timeline() -> Timeline:
    """Four events of ana's, one an hour, the last two of them archived, and one of ben's."""
    timeline = Timeline(DeterministicClock(SYSTEM_CLOCK.now()))
    scope = Scope("ana", "home", "chef")
    timeline.record(draft("Letter from Porto", timestamp=NOW - 3 * HOUR, event_type="letter", scope=scope))
    timeline.record(draft("A hut by the lake", timestamp=NOW - 2 * HOUR, event_type="visit", scope=scope))
    timeline.archive()
    timeline.record(draft("Tea in the garden", timestamp=NOW - HOUR, event_type="visit", metadata={"cups": 2}))
    timeline.record(draft("Green tea", timestamp=NOW, importance=0.9, source="shop"))
    timeline.record(draft("Tea of ben's", timestamp=NOW, scope=Scope("ben")))
    return timeline


@pytest.fixture
def api(timeline: Timeline) -> Api:
    """A reader whose key is bound to the user ana."""
    return api_for(Scope(user_id="ana"), Permission.READ)


def ask(api: Api, **body: Any) -> dict[str, Any]:
    response = api.post(QUERY, body)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    assert answer["count"] == len(answer["results"]) <= answer["diagnostics"]["matched_count"]
    account = answer["diagnostics"]
    assert account["considered_count"] == account["matched_count"] + account["filtered_count"]
    assert account["filtered_count"] == sum(account["filtered"].values())
    return answer


def contents(answer: dict[str, Any]) -> list[str]:
    return [event["content"] for event in answer["results"]]


def test_newest_events_come_first_with_all_that_is_kept_of_them(api: Api, timeline: Timeline) -> None:
    answer = ask(api)
    assert contents(answer) == ["Green tea", "Tea in the garden", "A hut by the lake", "Letter from Porto"]
    [record] = [event for event in timeline.model if event.content == "A hut by the lake"]
    assert answer["results"][2] == {
        "id": str(record.uuid),
        "user_id": "ana",
        "household_id": "home",
        "persona_id": "chef",
        "timestamp": record.timestamp.isoformat().replace("+00:00", "Z"),
        "event_type": "visit",
        "content": "A hut by the lake",
        "importance": 0.5,
        "source": "user",
        "origin": "app",
        "metadata": {},
        "recorded_at": record.recorded_at.isoformat().replace("+00:00", "Z"),
    }


def test_query_accepts_limit_and_top_k(api: Api) -> None:
    for asked in ({"limit": 1}, {"top_k": 1}, {"limit": 1, "top_k": 1}):
        assert ask(api, **asked)["count"] == 1
    response = api.post(QUERY, {"limit": 1, "top_k": 2})
    assert (response.status_code, error_attrs(response)) == (422, ["top_k"])


def test_diagnostics_count_matched_and_filtered(api: Api) -> None:
    start = (NOW - 2 * HOUR).isoformat()
    account = ask(api, **{"from": start, "event_types": ["visit", "letter"], "top_k": 1})["diagnostics"]
    assert account.pop("took_ms") > 0
    assert account == {
        "matched_count": 2,
        "filtered_count": 2,
        "considered_count": 4,
        "filtered": {"time_window": 1, "event_type": 1, "filter": 0},
        "hot": 2,
        "archived": 2,
        "complete": True,
        "segments": {"total": 1, "read": 1, "quarantined": None},
    }


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ({"from": NOW - HOUR}, 2),
        ({"to": NOW - HOUR}, 3),
        ({"from": NOW - 2 * HOUR, "to": NOW - HOUR}, 2),
        ({"from": NOW, "to": NOW}, 1),
        ({"from": None, "to": None, "last_days": None, "event_types": None, "query": None}, 4),
        ({"last_days": 0}, 0),
    ],
)
def test_window_enforcement(api: Api, window: dict[str, Any], expected: int) -> None:
    body = {name: value.isoformat() if hasattr(value, "isoformat") else value for name, value in window.items()}
    answer = ask(api, **body)
    assert answer["count"] == expected
    assert answer["diagnostics"]["filtered"]["time_window"] == 4 - expected


def test_last_days_count_back_from_the_moment_of_asking(api: Api) -> None:
    days = (utcnow(SYSTEM_CLOCK) - (NOW - 1.5 * HOUR)) / timedelta(days=1)
    assert ask(api, last_days=days)["count"] == 2


def test_time_window_means_the_same_as_its_two_ends(api: Api) -> None:
    ends = {"from": (NOW - 2 * HOUR).isoformat(), "to": (NOW - HOUR).isoformat()}
    assert contents(ask(api, time_window=ends)) == contents(ask(api, **ends))
    assert ask(api, time_window={"from": ends["from"]})["count"] == 3
    assert ask(api, time_window=None, filter={})["count"] == 4


def test_filter_chooses_among_rows_and_lines_of_files(api: Api) -> None:
    either = {"any": [{"metadata.cups": {"gte": 2}}, {"household_id": "home", "event_type": "letter"}]}
    answer = ask(api, filter=either)
    assert contents(answer) == ["Tea in the garden", "Letter from Porto"]
    assert answer["diagnostics"]["filtered"] == {"time_window": 0, "event_type": 0, "filter": 2}
    assert contents(ask(api, filter={"not": either}, event_types=["visit"])) == ["A hut by the lake"]
    assert contents(ask(api, filter={"source": "shop"}, query="tea")) == ["Green tea"]
    assert ask(api, filter={"id": {"in": []}})["count"] == 0
    assert ask(api, filter={"user_id": "ben"})["diagnostics"]["considered_count"] == 4


def test_context_isolation(api: Api) -> None:
    assert ask(api, household_id="home")["count"] == 2
    assert ask(api, persona_id="chef", user_id="ana")["count"] == 2
    assert ask(api, household_id="home", persona_id="nurse")["count"] == 0


def test_a_key_without_a_bound_sees_everybody(timeline: Timeline) -> None:
    everybody = api_for(Scope(), Permission.READ)
    assert ask(everybody)["count"] == 5
    assert ask(everybody, user_id="ben")["count"] == 1


def test_asking_out_of_bounds_is_like_unknown_user(api: Api) -> None:
    elsewhere, unknown = ask(api, user_id="ben"), ask(api, user_id="unknown")
    for answer in (elsewhere, unknown):
        assert answer["diagnostics"].pop("took_ms") >= 0
    assert elsewhere == unknown
    assert (elsewhere["count"], elsewhere["diagnostics"]["considered_count"]) == (0, 0)


def test_what_others_do_changes_no_answer(api: Api, timeline: Timeline) -> None:
    def seen() -> list[dict[str, Any]]:
        answers = [ask(api), ask(api, query="tea", explain=True), ask(api, last_days=1, event_types=["visit"])]
        for answer in answers:
            answer["diagnostics"].pop("took_ms")
        return answers

    before = seen()
    for user in ("ben", "cem"):
        timeline.record(*[draft(f"green tea {n}", timestamp=NOW, scope=Scope(user)) for n in range(5)])
    assert seen() == before


# --- damaged files ------------------------------------------------------------------------------------


def test_damaged_file_is_said_to_leave_answer_incomplete(api: Api, timeline_dir: Any) -> None:
    (timeline_dir / segments(SegmentState.ARCHIVED)[0].file_name).unlink()
    for caller, quarantined in ((api, None), (api_for(Scope()), 1)):
        account = ask(caller)["diagnostics"]
        assert (account["complete"], account["archived"]) == (False, 0)
        assert account["segments"]["quarantined"] == quarantined


# --- text ---------------------------------------------------------------------------------------------


def test_with_a_text_the_best_come_first(api: Api) -> None:
    answer = ask(api, query="a hut at a lake", top_k=2)
    assert contents(answer)[0] == "A hut by the lake"
    scores = [event["score"] for event in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    account = answer["diagnostics"]
    assert (account["mode"], account["index"], account["compared_by_meaning"], account["fallback"]) == (
        "hybrid", "exact", 4, None,
    )  # fmt: skip
    assert (account["matched_count"], answer["count"]) == (4, 2)


def test_a_text_is_asked_of_the_window_only(api: Api) -> None:
    start = (NOW - 2 * HOUR).isoformat()
    answer = ask(api, **{"query": "tea letter", "mode": "keyword", "from": start, "event_types": ["visit"]})
    assert contents(answer) == ["Tea in the garden"]
    assert answer["diagnostics"]["filtered"] == {
        "time_window": 1, "event_type": 1, "filter": 0, "beyond_text_limit": 0, "not_compared": 0, "no_match": 1,
    }  # fmt: skip
    assert answer["results"][0]["similarity"] is None


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector"])
def test_an_event_explains_its_place(api: Api, mode: str) -> None:
    [best, *_] = ask(api, query="green tea", mode=mode, explain=True)["results"]
    assert best["content"] == "Green tea"
    assert best["explain"]["mode"] == mode
    assert best["explain"]["score"] == best["score"]
    assert "explain" not in ask(api, query="green tea", mode=mode)["results"][0]


def test_without_text_there_is_nothing_to_explain(api: Api) -> None:
    assert not {"score", "similarity", "explain"} & set(ask(api, explain=True)["results"][0])


# --- input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "attr"),
    [
        ({"top_k": 0}, "top_k"),
        ({"top_k": 1001}, "top_k"),
        ({"top_k": "10"}, "top_k"),
        ({"from": "2026-03-01"}, "from"),
        ({"to": "2026-03-01T12:00:00"}, "to"),
        ({"from": "2026-03-02T00:00:00Z", "to": "2026-03-01T00:00:00Z"}, "from"),
        ({"last_days": -1}, "last_days"),
        ({"last_days": 36_501}, "last_days"),
        ({"last_days": 1, "to": "2026-03-01T00:00:00Z"}, "last_days"),
        ({"last_days": 1, "time_window": {"to": "2026-03-01T00:00:00Z"}}, "last_days"),
        ({"to": "2026-03-01T00:00:00Z", "time_window": {"to": "2026-03-01T00:00:00Z"}}, "time_window"),
        ({"time_window": {"from": "2026-03-02T00:00:00Z", "to": "2026-03-01T00:00:00Z"}}, "time_window.from"),
        ({"time_window": {"since": "2026-03-01T00:00:00Z"}}, "time_window.since"),
        ({"filter": {"content": "tea"}}, "filter.content"),
        ({"filter": {"importance": {"gt": "high"}}}, "filter.importance"),
        ({"event_types": []}, "event_types"),
        ({"event_types": "visit"}, "event_types"),
        ({"event_types": ["a visit"]}, "event_types.0"),
        ({"event_types": ["visit"] * 51}, "event_types"),
        ({"query": ""}, "query"),
        ({"query": "x" * 10_001}, "query"),
        ({"mode": "keyword"}, "query"),
        ({"query": "tea", "mode": "fuzzy"}, "mode"),
        ({"explain": "yes"}, "explain"),
        ({"user_id": ""}, "user_id"),
        ({"agent": "x"}, "agent"),
    ],
)
def test_bad_input_names_the_field(api: Api, body: dict[str, Any], attr: str) -> None:
    response = api.post(QUERY, body)
    assert response.status_code == 400
    assert error_attrs(response) == [attr]


def test_thousand_events_are_given_when_asked_for(timeline: Timeline) -> None:
    timeline.record(*[draft(f"{n}", timestamp=NOW, scope=Scope("dan")) for n in range(1_001)])
    answer = ask(api_for(Scope("dan")), top_k=1000)
    assert answer["count"] == 1000
    assert answer["diagnostics"]["matched_count"] == 1001
    assert ask(api_for(Scope("dan")))["count"] == 50


def test_only_known_callers_are_answered() -> None:
    assert Api().post(QUERY, {}).status_code == 401
    assert Api().get(QUERY).status_code == 401
