"""The output of a model as a request: parsed, run for a caller, and counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from apps.core.domain.scope import Access
from apps.llm import metrics
from apps.llm.domain.protocol.parser import parse_output
from apps.llm.domain.protocol.results import ParsedOutput, ProtocolMode, ToolRequest
from apps.llm.domain.protocol.statistics import measure_output
from apps.llm.domain.tools import Tool, ToolRegistry, ToolResult
from apps.llm.tools.counts import counted_name, output_count, runs_count


@cache
def tool_registry() -> ToolRegistry:
    """Return the tools in the table. Raises ImportError or ToolError when the table is wrong."""
    paths: Sequence[str] = import_string(settings.TOOLS)
    tools: list[Tool] = [import_string(path) for path in paths]
    return ToolRegistry(tools)


@dataclass(frozen=True)
class ExecutedOutput:
    """What a model requested, and the results in the order of `parsed.requests`."""

    parsed: ParsedOutput
    results: tuple[ToolResult, ...]


def output_parse(*, text: str, mode: ProtocolMode = ProtocolMode.DUAL) -> ParsedOutput:
    """Return the tool requests in the output of a model; nothing is run."""
    parsed = parse_output(text, mode=mode)
    statistics = measure_output(parsed)
    output_count(statistics=statistics)
    metrics.OUTPUTS.labels(protocol=parsed.protocol).inc()
    if parsed.fallback is not None:
        metrics.FALLBACKS.labels(to=parsed.fallback).inc()
    metrics.ABP_FAILURES.inc(statistics.abp_failed)
    metrics.FIXED.inc(statistics.fixed)
    for code, count in parsed.refusals.items():
        metrics.REFUSED.labels(code).inc(count)
    return parsed


def output_execute(*, access: Access, text: str, mode: ProtocolMode = ProtocolMode.DUAL) -> ExecutedOutput:
    """Run what the output of a model requests, under the caller's access. No output of a model raises."""
    parsed = output_parse(text=text, mode=mode)
    results = tuple(tool_registry().execute(access, request) for request in parsed.requests)
    count_results(results)
    return ExecutedOutput(parsed, results)


def tool_run(
    *, tools: ToolRegistry, access: Access, request: ToolRequest, given: Mapping[str, Any] | None = None
) -> ToolResult:
    """Run and count one request for one of some tools, under the caller's access. given: see `ToolRegistry.execute`."""
    result = tools.execute(access, request, given)
    count_results([result])
    return result


def count_results(results: Sequence[ToolResult]) -> None:
    """Count the outcomes of requests in the table and in the metrics."""
    runs_count(results=results)
    for result in results:
        metrics.RUNS.labels(tool=counted_name(result), outcome=result.outcome).inc()
