"""Requests of models for tools, counted by day (spec 000 "Dual protocol mode": fallback statistics).

Counts only, no content. Written by `tool_counts` only.
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
    MCP = Protocol.MCP.value, "MCP"


class RunOutcome(models.TextChoices):
    """The outcome of a request for a tool."""

    DONE = ToolOutcome.DONE.value, "Done"
    UNKNOWN_TOOL = ToolOutcome.UNKNOWN_TOOL.value, "Unknown tool"
    FORBIDDEN = ToolOutcome.FORBIDDEN.value, "Forbidden"
    INVALID_PARAMETERS = ToolOutcome.INVALID_PARAMETERS.value, "Invalid parameters"
    FAILED = ToolOutcome.FAILED.value, "Failed"


def count_field() -> models.PositiveBigIntegerField[int, int]:
    """Build a field for a count that begins at 0."""
    return models.PositiveBigIntegerField(default=0)


class ToolOutputDay(models.Model):
    """Outputs of models in one day of UTC, by outcome: `ProtocolStatistics` in a row."""

    day = models.DateField(primary_key=True)
    outputs = count_field()
    abp = count_field()
    vcp = count_field()
    text = count_field()
    abp_failed = count_field()
    fallback_to_vcp = count_field()
    fallback_to_text = count_field()
    fixed = count_field()
    refused = count_field()

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
    """How often a tool was asked for in one day of UTC, by protocol and outcome.

    tool: `unknown` for names that no tool has, since models invent names without end.
    """

    day = models.DateField()
    tool = models.CharField(max_length=MAX_TOOL_CHARS)
    protocol = models.CharField(max_length=4, choices=BlockProtocol.choices)
    outcome = models.CharField(max_length=20, choices=RunOutcome.choices)
    runs = count_field()

    class Meta:
        verbose_name = "tool count"
        ordering: ClassVar[list[str]] = ["-day", "tool", "protocol", "outcome"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # What one more run is added to. Finds the days of a span, too.
            models.UniqueConstraint(name="llm_tool_run_day_once", fields=["day", "tool", "protocol", "outcome"]),
        ]

    def __str__(self) -> str:
        return f"{self.tool} on {self.day.isoformat()}"
