"""Tool statistics in the admin: the protocols of outputs, how often they fail, and the outcomes by tool."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import display

from apps.core.admin.kit import ReadOnly, column
from apps.llm.admin.charts import protocol_chart
from apps.llm.domain.protocol.statistics import ProtocolStatistics
from apps.llm.models import RunOutcome, ToolRunDay
from apps.llm.status import COUNTED_DAYS
from apps.llm.tools.counts import UNKNOWN, RunCount, tool_statistics
from apps.llm.tools.requests import tool_registry

OUTCOME_COLOURS = {
    RunOutcome.DONE.value: "success",
    RunOutcome.UNKNOWN_TOOL.value: "warning",
    RunOutcome.FORBIDDEN.value: "warning",
    RunOutcome.INVALID_PARAMETERS.value: "warning",
    RunOutcome.FAILED.value: "danger",
}
TONES = {
    RunOutcome.DONE: "good",
    RunOutcome.INVALID_PARAMETERS: "warn",
    RunOutcome.FORBIDDEN: "info",
    RunOutcome.UNKNOWN_TOOL: "quiet",
    RunOutcome.FAILED: "bad",
}
NOT_A_TOOL = _("unknown tool names")


@admin.register(ToolRunDay)
class ToolRunDayAdmin(ReadOnly, ModelAdmin):
    """The counts by day, and above them their sums."""

    list_display = ["day_of", "tool", "protocol", "ended", "how_often"]
    list_display_links = ["day_of"]
    list_filter = ["outcome", "protocol"]
    list_fullwidth = True
    list_per_page = 25
    list_before_template = "llm/tools.html"
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    ordering = ["-day", "tool", "protocol", "outcome"]
    search_fields = ["tool"]
    search_help_text = _("Part of a tool's name")
    empty_text = _(
        "Counts appear when outputs of models are sent to /api/llm/tools/execute, or a chat model asks for a tool."
    )
    fields = ["day_of", "tool", "protocol", "outcome", "how_often"]
    readonly_fields = fields

    class Media:
        css = {"all": ["llm/models.css"]}
        js = ("memoryhub/charts.js",)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        return super().changelist_view(
            request, {**tools_page(), "title": gettext("Tool statistics"), **(extra_context or {})}
        )

    day_of = column(_("Day (UTC)"), lambda count: count.day.isoformat(), ordering="day")

    @display(description=_("Outcome"), ordering="outcome", label=OUTCOME_COLOURS)
    def ended(self, count: ToolRunDay) -> tuple[str, str]:
        return str(count.outcome), str(count.get_outcome_display())

    how_often = column(_("How often"), lambda count: f"{count.runs:,}", ordering="runs")


def tools_page() -> dict[str, Any]:
    """Return the context of templates/llm/tools.html."""
    found = tool_statistics(COUNTED_DAYS)
    return {
        "counted_days": COUNTED_DAYS,
        "is_empty": not found.total.outputs,
        "tiles": list(build_tiles(found.total)),
        "chart": protocol_chart(found.by_day),
        "tools": list(describe_tools(found.runs)),
        "legend": [(f"mh-{tone}", gettext(RunOutcome(outcome).label)) for outcome, tone in TONES.items()],
    }


def build_tiles(total: ProtocolStatistics) -> Iterator[tuple[str, str, str, str]]:
    """Yield label, number, note and tone of each tile."""
    asked = gettext("%(share)s of all outputs") % {"share": percent_of(total.asked, total.outputs)}
    yield gettext("Asked for a tool"), f"{total.asked:,}", asked, ""
    fallbacks = total.fallback_to_vcp + total.fallback_to_text
    words = gettext("%(vcp)s to VCP, %(text)s to plain text") % {
        "vcp": f"{total.fallback_to_vcp:,}",
        "text": f"{total.fallback_to_text:,}",
    }
    tone = "warn" if total.fallback_rate >= 0.2 else ""
    yield gettext("Fallback rate"), percent_of(fallbacks, total.asked), words, tone
    repaired = gettext("%(share)s of the requests") % {"share": percent_of(total.fixed, total.abp + total.vcp)}
    yield gettext("Repaired"), f"{total.fixed:,}", repaired, ""
    yield gettext("Damaged ABP"), f"{total.abp_failed:,}", gettext("outputs whose ABP blocks were all unusable"), ""
    refused = gettext("blocks and markers: quoted, damaged or superseded")
    yield gettext("Not acted upon"), f"{total.refused:,}", refused, ""


def describe_tools(runs: Iterable[RunCount]) -> Iterator[dict[str, Any]]:
    """Yield each tool with its outcomes: those of the hub in their order, and below them the names that no tool has."""
    counts: dict[str, Counter[str]] = {tool.name: Counter() for tool in tool_registry()}
    for run in runs:
        counts.setdefault(run.tool, Counter())[run.outcome] += run.runs
    for name, outcomes in sorted(counts.items(), key=lambda item: item[0] == UNKNOWN):
        total = outcomes.total()
        yield {
            "name": str(NOT_A_TOOL) if name == UNKNOWN else name,
            "total": f"{total:,}",
            "parts": [
                {
                    "tone": f"mh-{tone}",
                    "text": gettext("%(n)s %(outcome)s")
                    % {"n": f"{count:,}", "outcome": gettext(outcome.label).lower()},
                    "share": f"{100 * count / total:.2f}",
                }
                for outcome, tone in TONES.items()
                if (count := outcomes[outcome.value])
            ],
        }


def percent_of(count: int, of: int) -> str:
    """Return a share in percent; a dash of nothing."""
    return f"{100 * count / of:.0f}%" if of else "-"
