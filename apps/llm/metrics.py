"""Prometheus metrics of what models ask for (spec 000 "Dual protocol mode": statistics of the fallback)."""

from prometheus_client import Counter

OUTPUTS = Counter(
    "memoryhub_tool_outputs",
    "Outputs of models that were parsed, by the protocol in which a tool was asked for: abp, vcp, or text for none.",
    ["protocol"],
)
FALLBACKS = Counter(
    "memoryhub_tool_fallbacks",
    "Outputs in which the protocol that goes first was of no use, by what answered instead: vcp or text.",
    ["to"],
)
ABP_FAILURES = Counter(
    "memoryhub_tool_abp_failures", "Outputs with an ABP block that could not be used and none that could."
)
FIXED = Counter("memoryhub_tool_fixed", "Outputs whose request was repaired or stripped of noise on the way.")
REFUSED = Counter("memoryhub_tool_refused", "Markers and blocks that were not acted upon.")
RUNS = Counter(
    "memoryhub_tool_runs",
    "Requests for a tool, by what became of them. Tools that there are not are counted under `unknown`.",
    ["tool", "outcome"],
)
