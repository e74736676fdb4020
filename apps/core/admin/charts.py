"""Charts of the admin, drawn by Chart.js through the theme's components, each with its numbers as a table.

A template includes `admin/chart.html` with `chart`, and the page loads `memoryhub/charts.js`.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

NO_NUMBER = _("no sample")


@dataclass(frozen=True, kw_only=True)
class Series:
    """One line, or the bars of one kind. values: one for each label; None leaves a gap.

    tone: of the stylesheet, such as `bad` for `--mh-bad`. words: the values as the table shows them. is_line: in a
    chart of bars. is_dashed: for limits.
    """

    label: str
    values: Sequence[float | None]
    tone: str
    words: Sequence[str] = ()
    is_line: bool = False
    is_dashed: bool = False


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A chart. name: unique on its page. labels: one for each moment. unit: of the vertical axis.

    is_bars: bars instead of lines, stacked when they are parts of a whole. is_whole: the values are counts.
    """

    name: str
    title: str
    labels: Sequence[str]
    series: Sequence[Series]
    unit: str = ""
    is_bars: bool = False
    is_stacked: bool = False
    is_whole: bool = True
    note: str = ""

    @property
    def kind(self) -> str:
        """Return the name of the theme's component that draws it."""
        return f"unfold/components/chart/{'bar' if self.is_bars else 'line'}.html"

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to draw: no sample, or in a chart of bars only zeros."""
        drawn = [one for one in self.series if not (self.is_bars and one.is_line)]
        return not any(value is not None and (value or not self.is_bars) for one in drawn for value in one.values)

    @cached_property
    def data(self) -> str:
        """Return the labels and values as Chart.js reads them."""
        return json.dumps({"labels": list(self.labels), "datasets": [self.dataset(one) for one in self.series]})

    def dataset(self, one: Series) -> dict[str, Any]:
        """Return one series as Chart.js reads it; `charts.js` replaces the variables by colours."""
        colour = f"var(--mh-{one.tone})"
        shape: dict[str, Any] = {"label": one.label, "data": list(one.values), "backgroundColor": colour}
        if one.is_line or not self.is_bars:
            shape |= {"type": "line", "borderColor": colour, "borderWidth": 2, "tension": 0.25}
            shape |= {"pointRadius": [3 if is_alone(one.values, place) else 0 for place in range(len(one.values))]}
            shape |= {"stack": one.label, "order": 0}
        else:
            shape |= {"order": 1, "borderRadius": 2, "maxBarThickness": 24}
        if one.is_dashed:
            shape |= {"borderDash": [5, 4], "borderWidth": 1.5}
        return shape

    @cached_property
    def options(self) -> str:
        """Return how Chart.js draws it; colours of text and lines follow the theme (`charts.js`)."""
        x: dict[str, Any] = {
            "stacked": self.is_stacked,
            "grid": {"display": False},
            "border": {"display": False},
            "ticks": {"maxTicksLimit": 7, "maxRotation": 0, "autoSkipPadding": 12},
        }
        y: dict[str, Any] = {
            "stacked": self.is_stacked,
            "beginAtZero": True,
            "grid": {"tickWidth": 0},
            "border": {"display": False},
            "ticks": {"maxTicksLimit": 5, **({"precision": 0} if self.is_whole else {})},
            "title": {"display": bool(self.unit), "text": self.unit},
        }
        return json.dumps(
            {
                "animation": False,
                "responsive": True,
                "maintainAspectRatio": False,
                "interaction": {"mode": "index", "intersect": False},
                "plugins": {"legend": {"display": False}, "tooltip": {"boxPadding": 4}},
                "scales": {"x": x, "y": y},
            }
        )

    @property
    def heads(self) -> list[str]:
        """Return the heads of the table: of the moments, and of each series."""
        return [gettext("Time"), *(one.label for one in self.series)]

    def rows(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the rows of the table: label and values, the latest first."""
        for number in reversed(range(len(self.labels))):
            yield self.labels[number], [self.cell(one, number) for one in self.series]

    def cell(self, one: Series, number: int) -> str:
        """Return a value in words."""
        if one.words:
            return one.words[number]
        value = one.values[number]
        if value is None:
            return str(NO_NUMBER)
        shown = f"{value:,.0f}" if self.is_whole or value >= 100 else f"{value:,.1f}"
        return f"{shown} {self.unit}".strip()


def is_alone(values: Sequence[float | None], place: int) -> bool:
    """Return whether a value has no neighbour, so that no line shows it."""
    beside = (*values[max(place - 1, 0) : place], *values[place + 1 : place + 2])
    return values[place] is not None and all(value is None for value in beside)
