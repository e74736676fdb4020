"""Ask the reranker under the guards of all model calls (docs/decisions/0089): once, and no longer than its timeout.

Nothing is tried again, since somebody waits for a search. What keeps it from answering is a result, not an error.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.conf import settings

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.latency import monotonic_ms
from apps.llm import metrics
from apps.llm.domain.breaker import Phase
from apps.llm.domain.chat import Usage, estimate_tokens
from apps.llm.domain.rerank import RerankError
from apps.llm.gateway.call import HeldPermit
from apps.llm.gateway.context import is_in_transaction
from apps.llm.gateway.usage import ABANDONED
from apps.llm.guards.attempts import AttemptPlan, Permit, attempt_admit
from apps.llm.guards.breakers import CallResult
from apps.llm.guards.calls import NOTHING_USED, CallRecord, call_record
from apps.llm.guards.rules import GuardRules, guard_rules
from apps.llm.models import CallGuard, CallOutcome
from apps.llm.providers.reranker import Reranker, configured_reranker

PURPOSE = "rerank"
# Of the last six attempts within five minutes three failures open the breaker: a search waits for each of them.
WINDOW_SIZE, WINDOW_MS, ERROR_THRESHOLD = 6, 300_000, 0.5
# So long a process believes that a breaker is open; sooner closed by an operator, it is noticed after that.
REST_MS = 5_000


@dataclass(frozen=True)
class Reranked:
    """What a reranker said of some texts. scores: in their order, None where it gave none.

    problem: why it gave none, a code such as `timeout`, `bad_response` or `open` (its breaker is); else empty.
    """

    provider: str
    model: str
    scores: tuple[float, ...] | None
    took_ms: float
    problem: str = ""


def reranked_count() -> int:
    """Return how many hits of a search are put into a new order; 0 without a reranker."""
    config = settings.MEMORYHUB.rerank
    return config.count if config is not None else 0


def rerank(
    *,
    actor: str,
    question: str,
    texts: Sequence[str],
    user_id: str = "",
    reranker: Reranker | None = None,
    rules: GuardRules | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> Reranked | None:
    """Return how well each text answers a question; None without a reranker, or inside a transaction.

    actor, user_id: for the record, see `chat`. A transaction would be held open for as long as the server takes. Of
    each text the first letters are sent, as many as the settings say. Takes no longer than the reranker's timeout.
    """
    reranker = reranker or configured_reranker()
    if reranker is None or is_in_transaction():
        return None
    if clock.now() < reranker.rests_until:
        return Reranked(reranker.name, reranker.model, None, 0.0, Phase.OPEN.value)
    texts, rules = [text[: reranker.max_chars] for text in texts], rerank_rules(rules or guard_rules())
    tokens = estimate_tokens(question) * len(texts) + sum(map(estimate_tokens, texts))
    plan = AttemptPlan(provider=reranker.name, model=reranker.model, input_tokens=tokens, output_tokens=0)
    call = CallRecord(
        actor=actor,
        purpose=PURPOSE,
        user_id=user_id,
        outcome=CallOutcome.SUCCEEDED,
        latency_ms=0.0,
        started_at=clock.now(),
        provider=plan.provider,
        model=plan.model,
    )
    began = monotonic_ms()
    admission = attempt_admit(plan=plan, rules=rules, clock=clock)
    if admission.permit is not None:
        scores, problem = ask_once(reranker, question, texts, admission.permit, call, rules, clock)
    else:
        assert admission.refusal is not None
        scores, problem = None, admission.refusal.reason
        if (guard := admission.refusal.guard) is CallGuard.BREAKER:
            # Each search would ask the breaker, and write a row that says so; its phases are kept, and counted.
            reranker.rests_until = clock.now() + min(admission.refusal.retry_after_ms or 0, REST_MS)
        else:
            refused = replace(call, outcome=CallOutcome.REFUSED, guard=guard, reason=problem)
            call_record(record=refused, rules=rules)
    took_ms = monotonic_ms() - began
    metrics.LATENCY.labels(plan.provider, PURPOSE).observe(took_ms)
    return Reranked(plan.provider, plan.model, scores, took_ms, problem)


def ask_once(
    reranker: Reranker,
    question: str,
    texts: Sequence[str],
    permit: Permit,
    call: CallRecord,
    rules: GuardRules,
    clock: Clock,
) -> tuple[tuple[float, ...] | None, str]:
    """Return the scores, or why there are none. The permit is handed back whatever happens, with the record."""
    began, estimate = monotonic_ms(), Usage(permit.plan.input_tokens, 0, estimated=True)

    def ended(outcome: CallOutcome, reason: str, used: Usage) -> CallRecord:
        took_ms, cost = monotonic_ms() - began, permit.cost(used)
        return replace(call, outcome=outcome, reason=reason, usage=used, cost_usd=cost, latency_ms=took_ms, attempts=1)

    def abandoned() -> tuple[Usage, CallRecord]:
        return estimate, ended(CallOutcome.FAILED, ABANDONED, estimate)

    with HeldPermit(permit, rules, clock, abandoned) as held:
        try:
            scores = tuple(reranker.scores(question, texts))
        except RerankError as error:
            problem, result = (
                error.kind.value,
                CallResult.FAILED if error.counts_against_breaker else CallResult.NOT_MADE,
            )
            used = estimate if error.may_have_cost else NOTHING_USED
            held.settle(result, used, ended(CallOutcome.FAILED, problem, used))
            metrics.FAILED_ATTEMPTS.labels(reranker.name, problem).inc()
            return None, problem
        held.settle(CallResult.SUCCEEDED, estimate, ended(CallOutcome.SUCCEEDED, "", estimate))
    return scores, ""


def rerank_rules(rules: GuardRules) -> GuardRules:
    """Return the rules with a breaker that opens sooner than that of chat models."""
    circuit = replace(
        rules.circuit, window_size=WINDOW_SIZE, window_ms=WINDOW_MS, error_threshold=ERROR_THRESHOLD, probes_required=1
    )
    return replace(rules, circuit=circuit)
