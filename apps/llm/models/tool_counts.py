"""How models ask for tools, counted by the day (spec 000 "Dual protocol mode": fallback statistics).

Counts, and nothing of what was said. Written by `tool_counts` only.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from apps.llm.domain.protocol.results import Protocol
from apps.llm.domain.tools import ToolOutcome

MAX_TOOL_CHARS = 64


class BlockProtocol(models.TextChoices):
    """In which protocol a tool was asked for."""

    ABP = Protocol.ABP.value, "ABP"
    VCP = Protocol.VCP.value, "VCP"


class RunOutcome(models.TextChoices):
    """What became of a request for a tool."""

    DONE = ToolOutcome.DONE.value, "Done"
    UNKNOWN_TOOL = ToolOutcome.UNKNOWN_TOOL.value, "Unknown tool"
    FORBIDDEN = ToolOutcome.FORBIDDEN.value, "Forbidden"
    INVALID_PARAMETERS = ToolOutcome.INVALID_PARAMETERS.value, "Invalid parameters"
    FAILED = ToolOutcome.FAILED.value, "Failed"


def _count() -> models.PositiveBigIntegerField[int, int]:
    return models.PositiveBigIntegerField(default=0)


class ToolOutputDay(models.Model):
    """Outputs of models in one day of UTC, by what came of them: `ProtocolStatistics` in a row."""

    day = models.DateField(primary_key=True)
    outputs = _count()
    abp = _count()
    vcp = _count()
    text = _count()
    abp_failed = _count()
    fallback_to_vcp = _count()
    fallback_to_text = _count()
    fixed = _count()
    refused = _count()

    class Meta:
        ordering: ClassVar[list[str]] = ["-day"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Shares are of all outputs, so nothing may be counted twice or not at all.
            models.CheckConstraint(
                name="llm_tool_output_day_sum", condition=Q(outputs=F("abp") + F("vcp") + F("text"))
            ),
        ]

    def __str__(self) -> str:
        return self.day.isoformat()


class ToolRunDay(models.Model):
    """How often a tool was asked for in one day of UTC, by protocol and by what became of it.

    tool: `unknown` for all that there are not, since models make up names without end.
    """

    day = models.DateField()
    tool = models.CharField(max_length=MAX_TOOL_CHARS)
    protocol = models.CharField(max_length=4, choices=BlockProtocol.choices)
    outcome = models.CharField(max_length=20, choices=RunOutcome.choices)
    runs = _count()

    class Meta:
        verbose_name = "tool count"
        ordering: ClassVar[list[str]] = ["-day", "tool", "protocol", "outcome"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # What one more run is added to. Finds the days of a span, too.
            models.UniqueConstraint(name="llm_tool_run_day_once", fields=["day", "tool", "protocol", "outcome"]),
        ]

    def __str__(self) -> str:
        return f"{self.tool} on {self.day.isoformat()}"
