"""From which moment on a chart of the overview is drawn."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from apps.cockpit.now.numbers import PLANS, build_chart

START = datetime(2026, 3, 1, tzinfo=UTC)
SPAN: Any = SimpleNamespace(label=lambda at: f"{at:%H:%M}")


def test_axis_begins_with_the_first_sample_of_any_series() -> None:
    plan = next(one for one in PLANS if one.name == "saves")
    moments = [START + timedelta(minutes=n) for n in range(4)]
    values: Any = {
        "saves": list(zip(moments, [None, None, 3.0, None], strict=True)),
        "events_recorded": list(zip(moments, [None, 2.0, None, 1.0], strict=True)),
    }
    chart = build_chart(plan, values, SPAN)
    assert chart.labels == ["00:01", "00:02", "00:03"]
    assert [list(one.values) for one in chart.series] == [[None, 3.0, None], [2.0, None, 1.0]]
