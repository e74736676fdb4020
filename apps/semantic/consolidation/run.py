"""One run of a consolidation: look, decide in one short transaction per memory, and move the cursor with it.

Looking takes no lock. Each decision takes the row of the consolidation, then the line of writers of one user, looks
again at the rows as they are by then, and commits together with the cursor. So a save waits for one decision at most; a
run that is killed goes on where it was; and of two runs at once the second finds the cursor moved and steps aside.
"""

import time
from collections import Counter as Tally
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum

from django.db import transaction

from apps.core.domain.clock import Clock, utcnow
from apps.llm.selectors import EmbeddingSpace
from apps.rules.domain.engine.verdict import Verdict, VerdictOutcome, notice_only
from apps.rules.selectors import RuleSet, active_rules
from apps.semantic.conflicts.decisions import Case, Vectors, VectorsMissingError, decision_apply
from apps.semantic.consolidation.candidates import (
    Chunk,
    Finding,
    decided_partners,
    examine,
    finding_of,
    last_visible_id,
    memories_between,
)
from apps.semantic.models import Consolidation, ConsolidationMode, Memory, Origin
from apps.semantic.store.embedding_space import embed
from apps.semantic.store.locks import hold_space, lock_shards
from apps.semantic.store.unit_of_work import UnitOfWork

# Memories looked at together; and how long to wait for writers that are at work when a run begins.
CHUNK = 32
PATIENCE_SECONDS = 5.0
_TRIES = 5
WOULD_HAVE = {
    VerdictOutcome.SUPERSEDED_EXISTING: "superseded the existing memory",
    VerdictOutcome.KEPT_EXISTING: "superseded the candidate",
    VerdictOutcome.REJECTED: "rejected the candidate",
    VerdictOutcome.MERGED: "merged both",
}
Progress = Callable[[int], None]


class RunEnd(StrEnum):
    """Why a run ended. complete: every memory of the scope has been looked at. stepped_aside: another run is at work,
    or a person has changed the consolidation meanwhile. writers: somebody was writing all the while."""

    COMPLETE = "complete"
    NOTHING_NEW = "nothing_new"
    MEMORIES = "memories"
    DECISIONS = "decisions"
    TIME = "time"
    STEPPED_ASIDE = "stepped_aside"
    WRITERS = "writers"
    FAILED = "failed"


class SteppedAsideError(Exception):
    """Another run has the consolidation, or it is not what it was."""


@dataclass(frozen=True)
class RunLimits:
    """What one run does at most. None: no bound."""

    memories: int | None
    decisions: int | None
    seconds: float | None

    @classmethod
    def of(cls, consolidation: Consolidation) -> "RunLimits":
        """As an operator set them."""
        return cls(consolidation.max_memories, consolidation.max_decisions, consolidation.max_seconds)


@dataclass
class RunReport:
    """What a run did. looked_at: memories. receipts: how many by outcome. error: without the content of any memory."""

    ended: RunEnd = RunEnd.FAILED
    looked_at: int = 0
    receipts: Tally[str] = field(default_factory=Tally)
    seconds: float = 0.0
    error: str = ""

    @property
    def noticed(self) -> int:
        """Receipts that changed nothing."""
        return self.receipts[VerdictOutcome.NOTICED]

    @property
    def decided(self) -> int:
        """Receipts of decisions that were applied."""
        return self.receipts.total() - self.noticed


class ConsolidationRun:
    """A run from where the last one stopped. report: what was done so far, whatever happens next."""

    def __init__(
        self,
        consolidation: Consolidation,
        clock: Clock,
        bounds: RunLimits,
        *,
        only_if_enabled: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self._order, self._clock, self._bounds = consolidation, clock, bounds
        self._only_if_enabled, self._progress = only_if_enabled, progress
        self._cursor = consolidation.cursor
        self._began = time.monotonic()
        self.report = RunReport()

    def run(self, space: EmbeddingSpace) -> RunEnd:
        """Go on until a bound or the end. Safe to repeat. Raises SteppedAsideError, SpaceChangedError, and others."""
        until = last_visible_id(PATIENCE_SECONDS)
        if until is None:
            return RunEnd.WRITERS
        if not self._begin(until, _mark(active_rules(), space)):
            return RunEnd.NOTHING_NEW
        while memories := self._next(until):
            if ended := self._bound_reached() or self._look(memories, space, active_rules()):
                return ended
        with self._holding() as row:
            row.is_complete, row.passes = True, row.passes + 1
            row.save(update_fields=["is_complete", "passes"])
        return RunEnd.COMPLETE

    def _begin(self, until: int, mark: str) -> bool:
        """Begin a pass unless one is under way; False when there is nothing new to look at.

        After a finished pass only what was added since is new, unless rules or vectors are others now: then all is.
        """
        with self._holding() as row:
            if not row.is_complete:
                return True
            start = row.cursor if row.mark == mark else 0
            if not memories_between(row.scope, start, until).exists():
                return False
            row.cursor, row.mark, row.is_complete = start, mark, False
            row.looked_at = row.noticed = row.decided = 0
            row.save(update_fields=["cursor", "mark", "is_complete", "looked_at", "noticed", "decided"])
            self._cursor = start
        return True

    def _next(self, until: int) -> list[Memory]:
        left = CHUNK if self._bounds.memories is None else self._bounds.memories - self.report.looked_at
        # One at least, to tell the end of the memories from the end of what this run may look at.
        rows = memories_between(self._order.scope, self._cursor, until).defer("lexemes")
        return list(rows[: max(1, min(CHUNK, left))])

    def _look(self, memories: Sequence[Memory], space: EmbeddingSpace, rules: RuleSet) -> RunEnd | None:
        """Decide what is to be decided about some memories, and move the cursor past all of them."""
        chunk, done = examine(memories, space, rules), 0
        for place, pk in enumerate(chunk.ids, start=1):
            if pk in chunk.findings:
                self._decide(chunk, pk, place - done, space, rules)
                done = place
                if ended := self._bound_reached():
                    return ended
        if done < len(chunk.ids):
            with self._holding() as row:
                self._move(row, chunk.ids[-1], len(chunk.ids) - done)
            self._moved(chunk.ids[-1], len(chunk.ids) - done, None)
        return None

    def _bound_reached(self) -> RunEnd | None:
        bounds, report = self._bounds, self.report
        if bounds.decisions is not None and report.receipts.total() >= bounds.decisions:
            return RunEnd.DECISIONS
        if bounds.memories is not None and report.looked_at >= bounds.memories:
            return RunEnd.MEMORIES
        if bounds.seconds is not None and report.looked_at and time.monotonic() - self._began >= bounds.seconds:
            return RunEnd.TIME
        return None

    def _decide(self, chunk: Chunk, pk: int, count: int, space: EmbeddingSpace, rules: RuleSet) -> None:
        """Decide about one memory, and have moved the cursor past `count` of them, in one transaction."""
        vectors = Vectors(space.dimension)
        for _ in range(_TRIES):
            try:
                with self._holding() as row:
                    outcome = self._decide_locked(chunk, pk, space, rules, vectors)
                    self._move(row, pk, count, outcome)
            except VectorsMissingError:
                vectors.supply(embed(vectors.missing))
            else:
                self._moved(pk, count, outcome)
                return
        raise SteppedAsideError  # the rows are others each time: somebody writes faster than we embed

    def _decide_locked(
        self, chunk: Chunk, pk: int, space: EmbeddingSpace, rules: RuleSet, vectors: Vectors
    ) -> VerdictOutcome | None:
        """The outcome; None if there is nothing to decide any more. Raises VectorsMissingError, SpaceChangedError."""
        unit = UnitOfWork(self._order.actor, utcnow(self._clock), lock_shards([chunk.users[pk]]))
        hold_space(space)
        finding = _as_it_is_now(chunk, pk, rules)
        if finding is None:
            return None
        verdict = finding.verdict()
        if self._order.mode == ConsolidationMode.NOTICE:
            verdict = only_noticed(verdict)
        receipt = decision_apply(unit, _case(finding, verdict, rules, space, vectors))
        if vectors.missing:
            raise VectorsMissingError
        unit.write()
        return VerdictOutcome(str(receipt.outcome))

    @contextmanager
    def _holding(self) -> Iterator[Consolidation]:
        """The row, in a transaction, if nobody else has moved or changed it. Raises SteppedAsideError."""
        wanted = {"enabled": True} if self._only_if_enabled else {}
        with transaction.atomic():
            rows = Consolidation.objects.select_for_update(skip_locked=True)
            row = rows.filter(pk=self._order.pk, epoch=self._order.epoch, cursor=self._cursor, **wanted).first()
            if row is None:
                raise SteppedAsideError
            yield row

    def _move(self, row: Consolidation, cursor: int, count: int, outcome: VerdictOutcome | None = None) -> None:
        row.cursor, row.looked_at = cursor, row.looked_at + count
        row.noticed += outcome is VerdictOutcome.NOTICED
        row.decided += outcome not in {None, VerdictOutcome.NOTICED}
        row.save(update_fields=["cursor", "looked_at", "noticed", "decided"])

    def _moved(self, cursor: int, count: int, outcome: VerdictOutcome | None) -> None:
        """What is to be said once a move is committed."""
        self._cursor = cursor
        self.report.looked_at += count
        if outcome is not None:
            self.report.receipts[outcome] += 1
        if self._progress is not None:
            self._progress(count)


def only_noticed(verdict: Verdict) -> Verdict:
    """The same conflicts, of which none is acted on."""
    if verdict.outcome is VerdictOutcome.NOTICED:
        return verdict
    said = verdict.main.result
    reason = (
        "Only noticed, as this consolidation is set to; both memories stand. "
        f"The rule would have {WOULD_HAVE[verdict.outcome]}: {said.reason}"
    )
    return notice_only(verdict, reason)


def _as_it_is_now(chunk: Chunk, pk: int, rules: RuleSet) -> Finding | None:
    """A finding once more, from the rows that are active now. Vectors of a space never change."""
    one = chunk.neighbourhoods[pk]
    rows = Memory.objects.active().filter(pk__in=[pk, *one.near]).defer("lexemes").select_related("superseded_by")
    known = {row.pk: row for row in rows}
    return finding_of(one, known, rules, decided_partners([known[pk]])) if pk in known else None


def _case(finding: Finding, verdict: Verdict, rules: RuleSet, space: EmbeddingSpace, vectors: Vectors) -> Case:
    return Case(
        verdict=verdict,
        record=finding.record,
        memories=finding.memories,
        rule=finding.rule,
        rules=rules,
        origin=Origin.CONSOLIDATION,
        space=space,
        vectors=vectors,
    )


def _mark(rules: RuleSet, space: EmbeddingSpace) -> str:
    """What the findings of a pass depend on besides the memories."""
    return f"rules {rules.version}, space {space.pk}"
