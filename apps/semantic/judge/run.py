"""One run of the judge: put undecided pairs to a chat model, one after another, and decide by what it says.

One run at a time, by a lock of the session. A run that was killed is continued by the next one: answers are recorded
as they come in.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from apps.core.db.session_locks import try_session_lock
from apps.core.domain.clock import utcnow
from apps.core.domain.scope import Scope
from apps.llm.domain.outcome import StoppedBy
from apps.llm.selectors import EmbeddingSpace
from apps.semantic.judge.ask import MAX_TRIES, Asking, ask, skip
from apps.semantic.judge.decide import decide
from apps.semantic.judge.pairs import Pair, judged_by, pairs_of, undecided
from apps.semantic.models import Conflict, Judge, JudgedPair, JudgedPairState
from apps.semantic.models.judge import ONLY_ONE

CHUNK = 50
# Any number that no other advisory lock of this project uses.
_LOCK = 0x6D68_6A67
Progress = Callable[[int], None]


class JudgeEnd(StrEnum):
    """Why a run ended.

    complete: every pair was asked about. pairs: as many as it may ask. quota: as many as one day has. no_model: none is
    configured. budget, breaker, rate: a guard refused the question. provider: it failed, or took too long.
    stepped_aside: another run is active, or the judge is off.
    """

    COMPLETE = "complete"
    PAIRS = "pairs"
    QUOTA = "quota"
    TIME = "time"
    NO_MODEL = "no_model"
    BUDGET = "budget"
    BREAKER = "breaker"
    RATE = "rate"
    PROVIDER = "provider"
    STEPPED_ASIDE = "stepped_aside"
    FAILED = "failed"


STOPPED = {
    StoppedBy.CONFIGURATION: JudgeEnd.NO_MODEL,
    StoppedBy.BUDGET: JudgeEnd.BUDGET,
    StoppedBy.BREAKER: JudgeEnd.BREAKER,
    StoppedBy.RATE: JudgeEnd.RATE,
}


@dataclass
class JudgeReport:
    """What a run did. asked: pairs, by what came of it: a verdict, or `unanswered`. skipped: pairs, by the reason.

    receipts: by outcome. detail: why no more was asked. error: without the words of any memory.
    """

    ended: JudgeEnd = JudgeEnd.FAILED
    asked: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    receipts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    detail: str = ""
    error: str = ""


class JudgeRun:
    """A run over the undecided pairs of a scope. report: what was done so far, whatever happens next."""

    def __init__(
        self,
        asking: Asking,
        scope: Scope,
        *,
        max_pairs: int | None,
        max_seconds: float | None,
        only_if_enabled: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self._asking, self._scope = asking, scope
        self._max_pairs, self._max_seconds = max_pairs, max_seconds
        self._only_if_enabled, self._progress = only_if_enabled, progress
        self._began = time.monotonic()
        self.report = JudgeReport()

    def run(self, space: EmbeddingSpace) -> JudgeEnd:
        """Continue until a limit or the end. Safe to repeat. Raises SpaceChangedError and others."""
        with try_session_lock(_LOCK) as is_ours:
            if not is_ours:
                return JudgeEnd.STEPPED_ASIDE
            for notice, pairs in self.notices():
                if ended := self.ask_about(pairs):
                    return ended
                outcome = decide(notice, self._asking.model, space, self._asking.clock)
                if outcome is not None:
                    self.report.receipts[outcome] += 1
        return JudgeEnd.COMPLETE

    def notices(self) -> Iterator[tuple[Conflict, list[Pair]]]:
        """Yield the receipts to judge, the oldest first, with their pairs as they are now."""
        last = 0
        waiting = undecided(self._scope, self._asking.model).select_related("candidate", "existing")
        while chunk := list(waiting.filter(pk__gt=last)[:CHUNK]):
            for notice in chunk:
                # One by one: what is decided about one may concern the next.
                yield notice, pairs_of([notice])[0]
            last = chunk[-1].pk

    def ask_about(self, pairs: list[Pair]) -> JudgeEnd | None:
        """Put those pairs of a notice to the model that it has not answered. Return why the run ends, if it does."""
        for pair in pairs:
            if pair.code:
                skip(pair, self._asking.model)
                self.report.skipped[pair.code] += 1
            elif needs_question(pair, self._asking.model):
                if ended := self.reached_limit():
                    return ended
                if failure := ask(pair, self._asking):
                    self.report.detail = failure.detail
                    return STOPPED.get(failure.stopped_by, JudgeEnd.PROVIDER)
                self.note_answer(pair)
        return None

    def reached_limit(self) -> JudgeEnd | None:
        """Return the limit that is reached."""
        judge = Judge.objects.filter(pk=ONLY_ONE).first() or Judge()
        if self._only_if_enabled and not judge.enabled:
            return JudgeEnd.STEPPED_ASIDE
        if asked_today(utcnow(self._asking.clock)) >= judge.pairs_per_day:
            return JudgeEnd.QUOTA
        if self._max_pairs is not None and self.report.asked.total() >= self._max_pairs:
            return JudgeEnd.PAIRS
        if self._max_seconds is not None and time.monotonic() - self._began >= self._max_seconds:
            return JudgeEnd.TIME
        return None

    def note_answer(self, pair: Pair) -> None:
        """Count what came of a question."""
        row = JudgedPair.objects.get(candidate=pair.candidate, existing=pair.existing, **judged_by(self._asking.model))
        self.report.asked[row.verdict or row.state] += 1
        if self._progress is not None:
            self._progress(1)


def needs_question(pair: Pair, model: str) -> bool:
    """Return whether a pair is still to be put to a model; not where it was, or was tried too often."""
    row = JudgedPair.objects.filter(candidate=pair.candidate, existing=pair.existing, **judged_by(model)).first()
    return row is None or (row.state == JudgedPairState.ASKED and row.tries < MAX_TRIES)


def asked_today(now: datetime) -> int:
    """Return how many pairs were put to a model since the last midnight of UTC."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return JudgedPair.objects.filter(asked_at__gte=midnight).count()
