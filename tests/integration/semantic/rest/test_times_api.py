"""Times that a question names, over REST: what happened near to them is ranked higher, and nothing is left out."""

from typing import Any

import pytest

from tests.api import Api

pytestmark = pytest.mark.django_db
SEPTEMBER = "2025-09-15T12:00:00Z"


@pytest.fixture
def dinners(api: Api) -> Api:
    """An application that has saved what was eaten on six evenings, in the order of time."""
    for day in ("2024-07-10", "2024-12-24", "2025-02-03", "2025-05-20", "2025-07-08", "2025-09-14"):
        api.save(f"Dinner with Ana, menu {day[:7]}", occurred_at=f"{day}T19:00:00Z")
    return api


def order(answer: dict[str, Any]) -> list[str]:
    return [item["memory"]["content"][-7:] for item in answer["results"]]


def test_what_happened_then_comes_first_and_nothing_is_left_out(dinners: Api) -> None:
    for question, first in (
        ("What was dinner with Ana last summer?", "2025-07"),
        ("What was dinner with Ana in February?", "2025-02"),
        ("What was dinner with Ana last Christmas?", "2024-12"),
        ("What was dinner with Ana yesterday?", "2025-09"),
        ("What was dinner with Ana in the summer of 2024?", "2024-07"),
        ("Dinner with Ana 去年夏天", "2024-07"),
        ("Dinner with Ana 四個月前", "2025-05"),
    ):
        answer = dinners.search(question, asked_at=SEPTEMBER)
        assert order(answer)[0] == first, question
        assert len(order(answer)) == answer["diagnostics"]["matched_count"] == 6


def test_question_without_time_and_other_modes_are_ranked_as_ever(dinners: Api) -> None:
    plain = dinners.search("What was dinner with Ana?", explain=True)
    again = dinners.search("What was dinner with Ana?", explain=True, asked_at="2020-01-01T00:00:00+08:00")
    assert plain["results"] == again["results"]
    assert all("time" not in item["explain"] for item in plain["results"])
    for mode in ("vector", "keyword"):
        asked = [dinners.search("Dinner in May?", mode=mode, asked_at=at) for at in (SEPTEMBER, "2020-01-01T00:00:00Z")]
        assert asked[0]["results"] == asked[1]["results"]


def test_time_is_explained(dinners: Api) -> None:
    answer = dinners.search("What was dinner with Ana last summer?", explain=True, asked_at=SEPTEMBER)
    for item in answer["results"]:
        parts = item["explain"]
        named = {"words": "last summer", "from": "2025-06-01T00:00:00Z", "to": "2025-09-01T00:00:00Z"}
        assert parts["time"]["named"] == [named]
        assert parts["time"]["factor"] == pytest.approx(
            1 + parts["time"]["weight"] * parts["time"]["closeness"], abs=1e-6
        )
        together = parts["vector"]["contribution"] + parts["keyword"]["contribution"]
        assert together * parts["substance"] * parts["time"]["factor"] == pytest.approx(item["score"], abs=1e-5)
    near = {item["memory"]["content"][-7:]: item["explain"]["time"]["closeness"] for item in answer["results"]}
    assert near["2025-07"] == 1
    assert near["2024-07"] < near["2025-02"] < min(near["2025-05"], near["2025-09"]) < 1
    since = dinners.search("dinner with Ana since May", explain=True, asked_at=SEPTEMBER)["results"][0]["explain"][
        "time"
    ]
    assert since["named"] == [{"words": "since May", "from": "2025-05-01T00:00:00Z", "to": "2025-09-15T12:00:00Z"}]
    before = dinners.search("dinner with Ana before May", explain=True, asked_at=SEPTEMBER)["results"][0]["explain"][
        "time"
    ]
    assert before["named"] == [{"words": "before May", "from": None, "to": "2025-05-01T00:00:00Z"}]


def test_day_is_that_of_question(dinners: Api) -> None:
    def named(**fields: Any) -> list[dict[str, Any]]:
        answer = dinners.search("dinner yesterday", explain=True, **fields)
        times: list[dict[str, Any]] = answer["results"][0]["explain"]["time"]["named"]
        return times

    late = "2025-09-15T20:00:00Z"  # the 16th in Taipei
    for fields, start in (
        ({"asked_at": late}, "2025-09-14T00:00:00Z"),
        ({"asked_at": "2025-09-16T04:00:00+08:00"}, "2025-09-14T16:00:00Z"),
        ({"asked_at": late, "timezone": "Asia/Taipei"}, "2025-09-14T16:00:00Z"),
        ({"asked_at": "2025-09-16T04:00:00+08:00", "timezone": "UTC"}, "2025-09-14T00:00:00Z"),
    ):
        assert [one["from"] for one in named(**fields)] == [start]
    response = dinners.post("/api/semantic/search", {"query": "tea", "asked_at": "2025-09-16T04:00:00"})
    assert response.status_code == 400
    assert response.json()["errors"][0]["attr"] == "asked_at"


def test_extreme_times_are_answered(dinners: Api) -> None:
    for question in ("9999999 years ago", "999999999 hours ago", "in 999999999 weeks' time", "999999999年前"):
        for at in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", SEPTEMBER):
            assert dinners.search(f"dinner {question}", asked_at=at)["count"] == 6


def test_events_of_timeline_are_ranked_by_time_as_well(api: Api) -> None:
    for month in ("03", "05", "07"):
        event = {"event_type": "meal", "timestamp": f"2025-{month}-10T12:00:00Z", "content": f"Dinner, menu {month}"}
        assert api.post("/api/episodic/events", event).status_code == 201
    body = {"query": "What was dinner last spring?", "explain": True, "asked_at": "2025-04-20T12:00:00+02:00"}
    results = api.post("/api/episodic/query", body).json()["results"]
    assert len(results) == 3
    near = {item["content"]: item["explain"]["time"]["closeness"] for item in results}
    assert near["Dinner, menu 03"] < 0.1  # the last spring that has ended is of 2024
    results = api.post("/api/episodic/query", {**body, "query": "What was dinner in May?"}).json()["results"]
    assert results[0]["content"] == "Dinner, menu 05"
    assert results[0]["explain"]["time"]["closeness"] == 1
