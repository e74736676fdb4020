"""One question to a chat model about one pair, recorded before it is put and right after it is answered.

No transaction is open while the model thinks. What is recorded is what another run goes on with: an answer is used
without asking again, and a question whose run was killed is put again, a few times at most.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from apps.core.domain.clock import Clock, utcnow
from apps.core.domain.randomness import RNG
from apps.llm.domain.chat import ChatProvider, ErrorKind
from apps.llm.domain.outcome import ChatAnswer, ChatFailure, ChatResult, StoppedBy
from apps.llm.services import chat, gateway_policy
from apps.semantic.domain.judge import JudgeAnswer
from apps.semantic.judge.pairs import Pair, judged_by, model_key
from apps.semantic.models import JudgedPair, JudgedPairState

PURPOSE = ACTOR = "judge"
# Of a call with all its tries: the run of a worker must end in time.
DEADLINE_MS = 120_000
# Questions that were begun and had no answer, because the provider failed or the run was killed.
MAX_TRIES = 3


@dataclass(frozen=True)
class Asking:
    """How a model is asked. model: the configured one. providers: None for those of the settings. sleep: in seconds."""

    model: str
    clock: Clock
    rng: RNG
    providers: Sequence[ChatProvider] | None = None
    sleep: Callable[[float], None] = time.sleep


def ask(pair: Pair, asking: Asking) -> ChatFailure | None:
    """Put one pair to the model and record the answer. Return the failure where other pairs need not be tried either.

    An answer that is of no use is recorded as none; so is the refusal of this very question.
    """
    question = pair.question
    before = JudgedPair.objects.filter(candidate=pair.candidate, existing=pair.existing, **judged_by(asking.model))
    tries = before.values_list("tries", flat=True).first() or 0
    row, _ = JudgedPair.objects.update_or_create(
        candidate=pair.candidate,
        existing=pair.existing,
        **judged_by(asking.model),
        defaults={
            "notice": pair.notice,
            "state": JudgedPairState.ASKED,
            "digest": question.digest(),
            "asked_at": utcnow(asking.clock),
            "tries": tries + 1,
        },
    )
    result = chat(
        actor=ACTOR,
        purpose=PURPOSE,
        user_id=pair.notice.user_id,
        request=question.request(asking.rng),
        schema=JudgeAnswer,
        providers=asking.providers,
        policy=replace(gateway_policy(), deadline_ms=min(gateway_policy().deadline_ms, DEADLINE_MS)),
        clock=asking.clock,
        rng=asking.rng,
        sleep=asking.sleep,
    )
    return note_result(row, pair, result, asking)


def note_result(row: JudgedPair, pair: Pair, result: ChatResult[JudgeAnswer], asking: Asking) -> ChatFailure | None:
    """Record what came of a question. Return the failure where it is not about this pair alone."""
    row.answered_at = utcnow(asking.clock)
    if isinstance(result, ChatAnswer):
        opinion = pair.question.opinion(result.value, model_key(result.provider, result.model))
        row.state, row.code = JudgedPairState.ANSWERED, ""
        row.verdict, row.holds = opinion.verdict.value, opinion.holds or ""
        row.confidence, row.reason, row.answered_by = opinion.confidence, opinion.reason, opinion.model
        row.save()
        return None
    row.code = result.reason[:100]
    if is_about_pair(result):
        row.state = JudgedPairState.UNANSWERED
    elif result.effort.attempts == 0:
        row.tries, row.asked_at = row.tries - 1, None  # refused before it was put, so it does not count
    elif row.tries >= MAX_TRIES:
        row.state = JudgedPairState.UNANSWERED
    row.save()
    return None if is_about_pair(result) else result


def is_about_pair(failure: ChatFailure) -> bool:
    """Return whether a question failed because of what was asked, so that asking again is of no use."""
    is_refused = failure.stopped_by is StoppedBy.PROVIDER and failure.reason == ErrorKind.BAD_REQUEST
    return failure.stopped_by is StoppedBy.OUTPUT or is_refused


def skip(pair: Pair, model: str) -> None:
    """Record that a pair is not put to the model, and why."""
    defaults = {"notice": pair.notice, "state": JudgedPairState.SKIPPED, "code": pair.code}
    JudgedPair.objects.get_or_create(
        candidate=pair.candidate, existing=pair.existing, **judged_by(model), defaults=defaults
    )
