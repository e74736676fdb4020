"""Charts of the pages about models: what was spent by day, and the protocols of tools."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal

from django.utils.formats import date_format
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core.admin.charts import Chart, Series
from apps.core.admin.kit import dollars
from apps.llm.domain.protocol.statistics import ProtocolStatistics
from apps.llm.guards.calls import SpentDay

PROTOCOLS = (("abp", "ABP", "accent"), ("vcp", "VCP", "warn"), ("text", _("no tool asked for"), "quiet"))
# From how many percent of the budget a day has another colour, the highest first.
STEPS = ((100, _("All of the budget"), "bad"), (70, _("70% of the budget and more"), "warn"), (0, _("Spent"), "accent"))


def spending_chart(days: Sequence[SpentDay], limit: Decimal | None) -> Chart:
    """Return bars of what was spent by day, waived or not, and the line of today's limit."""
    # Which of STEPS each day has reached; without a limit none.
    shares = [one.spent * 100 / one.limit if one.limit else Decimal(0) for one in days]
    steps = [next(least for least, _label, _tone in STEPS if share >= least) for share in shares]
    bars = [
        money(
            str(label),
            tone,
            [one.spent - one.waived if step == least else Decimal(0) for one, step in zip(days, steps, strict=True)],
        )
        for least, label, tone in reversed(STEPS)
        if not least or least in steps
    ]
    if any(one.waived for one in days):
        bars.append(money(gettext("Spending reset"), "quiet", [one.waived for one in days]))
    if limit:
        bars.append(money(gettext("Limit"), "quiet", [limit] * len(days), is_line=True, is_dashed=True))
    total = dollars(sum((one.spent for one in days), Decimal(0)))
    return Chart(
        name="spending",
        title=gettext("Spent in the last %(count)s days: %(total)s") % {"count": len(days), "total": total},
        labels=[day_label(one.day) for one in days],
        series=bars,
        unit="$",
        is_bars=True,
        is_stacked=True,
        is_whole=False,
    )


def money(
    label: str, tone: str, values: Sequence[Decimal], *, is_line: bool = False, is_dashed: bool = False
) -> Series:
    """Return a series of US dollars."""
    return Series(
        label=label,
        values=[float(value) for value in values],
        tone=tone,
        words=[dollars(value) for value in values],
        is_line=is_line,
        is_dashed=is_dashed,
    )


def protocol_chart(by_day: Mapping[date, ProtocolStatistics]) -> Chart:
    """Return bars of the outputs of each day, by protocol."""
    return Chart(
        name="protocols",
        title=gettext("Outputs by protocol"),
        labels=[day_label(day) for day in by_day],
        series=[
            Series(label=str(label), values=[getattr(one, name) for one in by_day.values()], tone=tone)
            for name, label, tone in PROTOCOLS
        ],
        is_bars=True,
        is_stacked=True,
    )


def day_label(day: date) -> str:
    """Return a day as a label of the horizontal axis."""
    return date_format(day, gettext("M j"))
