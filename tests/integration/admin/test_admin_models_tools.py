"""Tool statistics in the admin: which protocols models speak, how often that fails, what became of each tool."""

from collections.abc import Callable
from datetime import date, timedelta

import pytest
from django.test import Client

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import system_access
from apps.llm.admin.charts import protocol_chart
from apps.llm.admin.tools import tools_page
from apps.llm.domain.protocol.statistics import ProtocolStatistics
from apps.llm.models import RunOutcome, ToolRunDay
from apps.llm.tools.counts import output_count
from apps.llm.tools.requests import output_execute, tool_registry
from tests.integration.admin.pages import address, text_of
from tests.unit.llm.protocol.outputs import END, SAVE, abp, vcp

pytestmark = pytest.mark.django_db

HERE = address(ToolRunDay, "changelist")
SCRIPT = "<script>alert(1)</script>"
DAY = date(2026, 5, 10)


def runs(tool: str = "memory_save", outcome: str = "done", count: int = 1, **fields: str) -> ToolRunDay:
    today = utcnow(SYSTEM_CLOCK).date()
    return ToolRunDay.objects.create(day=today, tool=tool, outcome=outcome, runs=count, **{"protocol": "abp", **fields})


def test_before_anything_was_counted_page_says_how_counts_come_about(operator: Client) -> None:
    text = text_of(operator, HERE)
    assert "No output of a model was sent in the last 30 days" in text
    assert "/api/llm/tools/execute" in text
    assert "<canvas" not in text


def test_requests_of_models_are_shown_in_numbers_and_bars(operator: Client) -> None:
    access = system_access("test")
    for text in (
        abp("memory_search", '{"query": "tea"}'),
        abp("memory_search", '{"query": "tea"'),
        vcp("memory_search", query="tea"),
        vcp("made_up"),
        f"{SAVE} what?{END}",
        "Nothing to do.",
    ):
        output_execute(access=access, text=text)
    page = tools_page()
    assert [(label, number, note) for label, number, note, _ in page["tiles"]] == [
        ("Asked for a tool", "5", "83% of all outputs"),
        ("Fallback rate", "60%", "2 to VCP, 1 to plain text"),
        ("Repaired", "1", "25% of the requests"),
        ("Damaged ABP", "1", "outputs whose ABP blocks were all unusable"),
        ("Not acted upon", "1", "blocks and markers: quoted, damaged or superseded"),
    ]
    shown = {tool["name"]: (tool["total"], [part["text"] for part in tool["parts"]]) for tool in page["tools"]}
    assert shown["memory_search"] == ("3", ["3 done"])
    assert shown["unknown tool names"] == ("1", ["1 unknown tool"])
    assert shown["memory_save"] == ("0", [])
    assert {one.label: one.values[-1] for one in page["chart"].series} == {"ABP": 2, "VCP": 2, "no tool asked for": 2}
    assert "60%" in text_of(operator, HERE)


def test_every_tool_of_hub_is_there_and_others_that_were_counted() -> None:
    runs("a_tool_of_an_older_version", count=3)
    runs("unknown", "unknown_tool")
    names = [tool["name"] for tool in tools_page()["tools"]]
    assert set(names) >= {tool.name for tool in tool_registry()} | {"a_tool_of_an_older_version"}
    assert names[-1] == "unknown tool names"


def test_parts_of_tool_are_shares_of_its_requests() -> None:
    for outcome, count in (("done", 7), ("forbidden", 2), ("failed", 1)):
        runs(outcome=outcome, count=count)
    [tool] = [one for one in tools_page()["tools"] if one["name"] == "memory_save"]
    assert [(part["text"], part["share"]) for part in tool["parts"]] == [
        ("7 done", "70.00"), ("2 forbidden", "20.00"), ("1 failed", "10.00"),
    ]  # fmt: skip


def test_both_protocols_of_a_tool_are_added_up() -> None:
    runs(count=2)
    runs(count=3, protocol="vcp")
    assert [one["total"] for one in tools_page()["tools"] if one["name"] == "memory_save"] == ["5"]


@pytest.mark.parametrize(("fallbacks", "tone"), [(19, ""), (20, "warn")])
def test_many_fallbacks_are_marked(fallbacks: int, tone: str) -> None:
    output_count(
        statistics=ProtocolStatistics(outputs=100, abp=100 - fallbacks, vcp=fallbacks, fallback_to_vcp=fallbacks)
    )
    assert tools_page()["tiles"][1][3] == tone


def test_bar_is_made_of_protocols_from_ground_up() -> None:
    days = {DAY - timedelta(days=1): ProtocolStatistics(), DAY: ProtocolStatistics(outputs=10, abp=5, vcp=3, text=2)}
    chart = protocol_chart(days)
    assert chart.is_stacked
    assert [(one.label, list(one.values)) for one in chart.series] == [
        ("ABP", [0, 5]), ("VCP", [0, 3]), ("no tool asked for", [0, 2]),
    ]  # fmt: skip


def test_days_are_listed_below_and_can_be_narrowed(operator: Client) -> None:
    runs(count=4)
    runs("event_query", "failed", protocol="vcp")
    shown = operator.get(HERE, {"outcome__exact": "failed"}).context["cl"].result_list
    assert [(one.tool, one.protocol, one.runs) for one in shown] == [("event_query", "vcp", 1)]
    assert [one.tool for one in operator.get(HERE, {"q": "memory"}).context["cl"].result_list] == ["memory_save"]


def test_every_outcome_has_a_colour_and_a_name(operator: Client) -> None:
    for outcome in RunOutcome:
        runs(outcome=outcome.value)
    output_count(statistics=ProtocolStatistics(outputs=1, text=1))
    text = text_of(operator, HERE)
    for outcome in RunOutcome:
        assert str(outcome.label) in text


def test_counts_are_only_read(operator: Client) -> None:
    one = runs()
    assert operator.post(address(ToolRunDay, "change", one.pk), {"runs": "9"}).status_code == 403
    assert operator.post(address(ToolRunDay, "delete", one.pk), {"post": "yes"}).status_code == 403


def test_who_may_not_view_counts_sees_none(staff: Callable[..., Client]) -> None:
    assert staff("view_modelcall").get(HERE).status_code == 403


def test_who_may_view_counts_sees_them(staff: Callable[..., Client]) -> None:
    runs()
    assert "memory_save" in text_of(staff("view_toolrunday"), HERE)


def test_names_are_escaped(operator: Client) -> None:
    one = runs(SCRIPT)
    output_count(statistics=ProtocolStatistics(outputs=1, text=1))
    for url in (HERE, address(ToolRunDay, "change", one.pk)):
        text = text_of(operator, url)
        assert "<script>alert(1)" not in text
        assert "&lt;script&gt;alert(1)" in text
