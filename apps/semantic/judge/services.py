"""The judge: a chat model that is asked about pairs which the rules cannot decide (docs/guides/conflicts.md).

Nothing is asked unless an operator turns it on and a chat model is configured.
"""

import logging
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db import transaction
from django.db.models import Count
from django_q.tasks import async_task
from prometheus_client import Counter as CounterMetric

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.randomness import RNG, SYSTEM_RNG
from apps.core.domain.scope import Scope
from apps.llm.domain.chat import ChatProvider
from apps.llm.services import configured_models, guard_rules
from apps.semantic.conflicts.queue import MAX_COUNTED
from apps.semantic.judge.ask import Asking
from apps.semantic.judge.pairs import model_key, pairs_of, undecided
from apps.semantic.judge.run import CHUNK, JudgeEnd, JudgeReport, JudgeRun, Progress, asked_today, needs_question
from apps.semantic.models import Judge, JudgedPair, JudgedPairState
from apps.semantic.models.judge import ONLY_ONE
from apps.semantic.store.embedding_space import with_current_space

logger = logging.getLogger(__name__)

TASK = "apps.semantic.tasks.judge"
SETTINGS = ("enabled", "pairs_per_day", "max_seconds")
RUNS = CounterMetric("memoryhub_judge_runs", "Runs of the judge, by why they ended.", ["ended"])
PAIRS = CounterMetric(
    "memoryhub_judge_pairs", "Pairs of memories that a chat model was asked about, by its verdict.", ["verdict"]
)
SKIPPED = CounterMetric("memoryhub_judge_skipped", "Pairs that were not asked about, by the reason.", ["reason"])
RECEIPTS = CounterMetric("memoryhub_judge_receipts", "Receipts that followed, by outcome.", ["outcome"])


class JudgeState(StrEnum):
    """Whether pairs are asked about. off: it is not turned on. budget, quota: not any more today."""

    OFF = "off"
    NO_MODEL = "no_model"
    BUDGET = "budget"
    QUOTA = "quota"
    READY = "ready"


@dataclass(frozen=True)
class JudgeStatus:
    """The state of the judge, of all users together. model: the configured one, empty for none.

    waiting: receipts that may be put to it, at most MAX_COUNTED. asked_today: pairs since midnight, UTC. counts: pairs
    of all time by verdict, or by state where there is none. judge: the settings, and the last run.
    """

    state: JudgeState
    model: str
    waiting: int
    asked_today: int
    counts: Mapping[str, int]
    judge: Judge


@dataclass(frozen=True)
class JudgePreview:
    """What a run would ask. notices: receipts. pairs: to be put to the model. skipped: others, by the reason."""

    notices: int = 0
    pairs: int = 0
    skipped: Counter[str] = field(default_factory=Counter)


def judge_get() -> Judge:
    """Return the settings of the judge; off until they are changed."""
    return Judge.objects.get_or_create(pk=ONLY_ONE)[0]


@transaction.atomic
def judge_update(*, settings: Mapping[str, Any]) -> Judge:
    """Change settings. Turning it off stops a scheduled run before its next question. Raises ValidationError."""
    judge_get()
    judge = Judge.objects.select_for_update().get(pk=ONLY_ONE)
    for name, value in settings.items():
        assert name in SETTINGS, name
        setattr(judge, name, value)
    judge.full_clean()
    judge.save()
    return judge


def judge_request() -> None:
    """Enqueue one run, whether the judge is on or not."""
    async_task(TASK, task_name="semantic.judge", save=False)


def judge_request_scheduled() -> bool:
    """Enqueue a run if the judge is on and has a model, which ends at once if it is off by then. Return whether."""
    is_on = Judge.objects.filter(enabled=True).exists()
    if not (is_on and configured_model()):
        return False
    async_task(TASK, scheduled=True, task_name="semantic.judge", save=False)
    return True


def configured_model() -> str:
    """Return the name of the chat model that is asked first; empty without one."""
    models = configured_models(rules=guard_rules())
    return model_key(models[0].provider, models[0].model) if models else ""


def judge_run(
    *,
    scope: Scope | None = None,
    only_if_enabled: bool = False,
    max_pairs: int | None = None,
    has_time_limit: bool = True,
    progress: Progress | None = None,
    providers: Sequence[ChatProvider] | None = None,
    clock: Clock = SYSTEM_CLOCK,
    rng: RNG = SYSTEM_RNG,
    sleep: Callable[[float], None] = time.sleep,
) -> JudgeReport:
    """Put undecided pairs to the chat model until a limit, or the end. Call it outside a transaction.

    Never raises for errors within: the report and the row say them. scope: whose pairs; None for everyone's. progress:
    called with the number of pairs that were asked about since its last call. providers: None for the configured ones.
    """
    judge = judge_get()
    if only_if_enabled and not judge.enabled:
        return JudgeReport(JudgeEnd.STEPPED_ASIDE)
    model = configured_model() if providers is None else next((model_key(one.name, one.model) for one in providers), "")
    run = JudgeRun(
        Asking(model, clock, rng, providers, sleep),
        scope or Scope(),
        max_pairs=max_pairs,
        max_seconds=judge.max_seconds if has_time_limit else None,
        only_if_enabled=only_if_enabled,
        progress=progress,
    )
    report, began = run.report, time.monotonic()
    try:
        report.ended = with_current_space(run.run) if model else JudgeEnd.NO_MODEL
    except MemoryHubError as error:
        report.error = error.detail
    except Exception as error:  # noqa: BLE001  (the next run is to continue, whatever was wrong with this one)
        # Its text may quote a memory; its type and place do not.
        place = traceback.extract_tb(error.__traceback__)[-1]
        report.error = f"{type(error).__name__} in {place.filename}:{place.lineno}"
    report.seconds = time.monotonic() - began
    note_run(report, clock)
    return report


def note_run(report: JudgeReport, clock: Clock) -> None:
    """Note how a run went: on the row, in the metrics and in the log; never what memories say."""
    RUNS.labels(report.ended.value).inc()
    for metric, counts in ((PAIRS, report.asked), (SKIPPED, report.skipped), (RECEIPTS, report.receipts)):
        for name, count in counts.items():
            metric.labels(str(name)).inc(count)
    if report.ended is not JudgeEnd.STEPPED_ASIDE:
        Judge.objects.filter(pk=ONLY_ONE).update(
            last_run_at=utcnow(clock),
            last_run_seconds=report.seconds,
            last_end=report.ended.value,
            last_error=(report.error or report.detail)[:300],
        )
    logger.log(
        logging.ERROR if report.error else logging.INFO,
        "judge: %s; %d pairs asked about, %d skipped, %d receipts, in %.1f s %s",
        report.ended.value, report.asked.total(), report.skipped.total(), report.receipts.total(), report.seconds,
        report.error or report.detail,
    )  # fmt: skip


def judge_preview(*, scope: Scope) -> JudgePreview:
    """Count the pairs of a scope that would be put to the configured model. Asks nothing and changes nothing."""
    model, notices, pairs, skipped, last = configured_model(), 0, 0, Counter[str](), 0
    waiting = undecided(scope, model).select_related("candidate", "existing")
    while chunk := list(waiting.filter(pk__gt=last)[:CHUNK]):
        notices += len(chunk)
        for pair in (pair for found in pairs_of(chunk) for pair in found):
            if pair.code:
                skipped[pair.code] += 1
            elif needs_question(pair, model):
                pairs += 1
        last = chunk[-1].pk
    return JudgePreview(notices, pairs, skipped)


def judge_status(*, clock: Clock = SYSTEM_CLOCK) -> JudgeStatus:
    """Return the state of the judge. Asks no provider."""
    now, model = utcnow(clock), configured_model()
    judge = Judge.objects.filter(pk=ONLY_ONE).first() or Judge()
    asked = asked_today(now)
    rows = JudgedPair.objects.exclude(state=JudgedPairState.ASKED).values_list("verdict", "state")
    counts = {verdict or state: count for verdict, state, count in rows.annotate(Count("id")).order_by()}
    waiting = undecided(Scope(), model).values("pk")[:MAX_COUNTED].count()
    return JudgeStatus(state_of(judge, model, asked, now), model, waiting, asked, counts, judge)


def state_of(judge: Judge, model: str, asked: int, now: datetime) -> JudgeState:
    """Return whether pairs are asked about."""
    if not judge.enabled:
        return JudgeState.OFF
    if not model:
        return JudgeState.NO_MODEL
    if asked >= judge.pairs_per_day:
        return JudgeState.QUOTA
    ran_today = judge.last_run_at is not None and judge.last_run_at.date() == now.date()
    return JudgeState.BUDGET if ran_today and judge.last_end == JudgeEnd.BUDGET else JudgeState.READY
