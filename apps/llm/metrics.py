"""Prometheus metrics of requests for tools (spec 000 "Dual protocol mode": statistics of the fallback), and of calls.

Those of calls have the names of spec 002 after the prefix. For what all processes share, the value of a gauge that was
set last counts, whichever process set it.
"""

from prometheus_client import Counter, Gauge, Histogram

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
REFUSED = Counter(
    "memoryhub_tool_refused",
    "Blocks and markers that were not acted upon, each once, by the reason; in_code, in_quote, in_json and in_thought"
    " were only shown.",
    ["code"],
)
RUNS = Counter(
    "memoryhub_tool_runs",
    "Requests for a tool, by what became of them. Tools that there are not are counted under `unknown`.",
    ["tool", "outcome"],
)

CIRCUIT_STATE = Gauge(
    "memoryhub_llm_circuit_state",
    "The circuit breaker of a provider: 0 closed, 1 open, 2 half-open.",
    ["provider"],
    multiprocess_mode="mostrecent",
)
BUDGET_UTILIZATION = Gauge(
    "memoryhub_llm_budget_utilization_percent",
    "What is spent of the day's budget, in percent; 0 without a budget.",
    multiprocess_mode="mostrecent",
)
BUDGET_ALERTS = Counter(
    "memoryhub_llm_budget_alerts", "Thresholds of the budget, in percent, when they were reached.", ["threshold"]
)
SPEND = Counter("memoryhub_llm_spend_usd", "Dollars spent on calls whose price is known.", ["provider", "model"])
TOKENS = Counter("memoryhub_llm_tokens", "Tokens used, by direction: input or output.", ["provider", "direction"])
REFUSALS = Counter(
    "memoryhub_llm_refusals", "Attempts that a guard refused: budget, breaker or rate; and why.", ["guard", "reason"]
)
CALLS = Counter("memoryhub_llm_calls", "Calls through the gateway, by how they ended.", ["provider", "outcome"])

LATENCY = Histogram(
    "memoryhub_llm_latency_ms_summary",
    "Milliseconds that calls through the gateway took, with all their tries and pauses, by what they were for.",
    ["provider", "operation"],
    buckets=(5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 180_000, 600_000),
)
FAILED_ATTEMPTS = Counter(
    "memoryhub_llm_failed_attempts", "Attempts that failed at the provider, by kind.", ["provider", "kind"]
)
UNUSABLE = Counter(
    "memoryhub_llm_unusable_answers", "Answers of no use, by what was wrong with them.", ["provider", "fault"]
)
REPAIRED = Counter("memoryhub_llm_repaired_answers", "Answers whose JSON was repaired and then used.", ["provider"])
