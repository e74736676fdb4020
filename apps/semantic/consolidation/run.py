"""One run of a consolidation: examine memories, decide about one per short transaction, and move the cursor with it.

Examining takes no lock. Each decision locks the row of the consolidation, then the shard of one user, reads the rows
again as they are by then, and commits together with the cursor. So a save waits for one decision at most; a run that is
killed continues where it was; and of two concurrent runs the second finds the cursor moved and steps aside.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum

from django.db import transaction

from apps.core.domain.clock import Clock, utcnow
from apps.llm.selectors import EmbeddingSpace
from apps.rules.domain.engine.verdict import VerdictOutcome, notice_only
from apps.rules.selectors import RuleSet, active_rules
from apps.semantic.conflicts.candidate import Case, SaveContext
from apps.semantic.conflicts.decisions import decision_apply
from apps.semantic.conflicts.receipts import decided_partners
from apps.semantic.consolidation.candidates import (
    ExaminedChunk,
    examine,
    find_conflicts,
    last_visible_id,
    memories_between,
)
from apps.semantic.models import Consolidation, ConsolidationMode, Memory, Origin
from apps.semantic.store.embedding_space import TextVectors, VectorsMissingError, hold_space
from apps.semantic.store.unit_of_work import UnitOfWork, lock_shards

# Memories examined together; and how long to wait for writers that are active when a run begins.
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
    """Why a run ended. complete: every memory of the scope has been examined. stepped_aside: another run is active, or
    a person has changed the consolidation since. writers: other transactions were writing all the time."""

    COMPLETE = "complete"
    NOTHING_NEW = "nothing_new"
    MEMORIES = "memories"
    DECISIONS = "decisions"
    TIME = "time"
    STEPPED_ASIDE = "stepped_aside"
    WRITERS = "writers"
    FAILED = "failed"


class SteppedAsideError(Exception):
    """Another run has the consolidation, or it was changed."""


@dataclass(frozen=True)
class RunLimits:
    """What one run does at most. None: no limit."""

    memories: int | None
    decisions: int | None
    seconds: float | None

    @classmethod
    def of(cls, consolidation: Consolidation) -> "RunLimits":
        """Return the limits that an operator set."""
        return cls(consolidation.max_memories, consolidation.max_decisions, consolidation.max_seconds)


@dataclass
class RunReport:
    """What a run did. looked_at: memories. receipts: how many by outcome. error: without the content of any memory."""

    ended: RunEnd = RunEnd.FAILED
    looked_at: int = 0
    receipts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    error: str = ""

    @property
    def noticed(self) -> int:
        """Return how many receipts changed nothing."""
        return self.receipts[VerdictOutcome.NOTICED]

    @property
    def decided(self) -> int:
        """Return how many receipts are of decisions that were applied."""
        return self.receipts.total() - self.noticed


class ConsolidationRun:
    """A run from where the last one stopped. report: what was done so far, whatever happens next."""

    def __init__(
        self,
        consolidation: Consolidation,
        clock: Clock,
        limits: RunLimits,
        *,
        only_if_enabled: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self._consolidation, self._clock, self._limits = consolidation, clock, limits
        self._only_if_enabled, self._progress = only_if_enabled, progress
        self._cursor = consolidation.cursor
        self._began = time.monotonic()
        self.report = RunReport()

    def run(self, space: EmbeddingSpace) -> RunEnd:
        """Continue until a limit or the end. Safe to repeat. Raises SteppedAsideError, SpaceChangedError and others."""
        until = last_visible_id(PATIENCE_SECONDS)
        if until is None:
            return RunEnd.WRITERS
        # What the findings of a pass depend on besides the memories.
        if not self.begin(until, f"rules {active_rules().version}, space {space.pk}"):
            return RunEnd.NOTHING_NEW
        while memories := self.next_chunk(until):
            if ended := self.reached_limit() or self.examine_chunk(memories, space, active_rules()):
                return ended
        with self.lock_row() as row:
            row.is_complete, row.passes = True, row.passes + 1
            row.save(update_fields=["is_complete", "passes"])
        return RunEnd.COMPLETE

    def begin(self, until: int, mark: str) -> bool:
        """Begin a pass unless one is under way. Return False when there is nothing new to examine.

        After a finished pass only what was added since is new, unless rules or vectors have changed: then all is.
        """
        with self.lock_row() as row:
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

    def next_chunk(self, until: int) -> list[Memory]:
        """Read the next memories to examine; none at the end."""
        left = CHUNK if self._limits.memories is None else self._limits.memories - self.report.looked_at
        # At least one, to distinguish the end of the memories from the limit of this run.
        rows = memories_between(self._consolidation.scope, self._cursor, until).defer("lexemes")
        return list(rows[: max(1, min(CHUNK, left))])

    def examine_chunk(self, memories: Sequence[Memory], space: EmbeddingSpace, rules: RuleSet) -> RunEnd | None:
        """Decide about some memories, and move the cursor past all of them. Return why the run ends, if it does."""
        chunk, done = examine(memories, space, rules), 0
        for place, pk in enumerate(chunk.ids, start=1):
            if pk in chunk.findings:
                self.decide(chunk, pk, place - done, space, rules)
                done = place
                if ended := self.reached_limit():
                    return ended
        if done < len(chunk.ids):
            with self.lock_row() as row:
                self.move_cursor(row, chunk.ids[-1], len(chunk.ids) - done)
            self.note_progress(chunk.ids[-1], len(chunk.ids) - done, None)
        return None

    def reached_limit(self) -> RunEnd | None:
        """Return the limit that is reached."""
        limits, report = self._limits, self.report
        if limits.decisions is not None and report.receipts.total() >= limits.decisions:
            return RunEnd.DECISIONS
        if limits.memories is not None and report.looked_at >= limits.memories:
            return RunEnd.MEMORIES
        if limits.seconds is not None and report.looked_at and time.monotonic() - self._began >= limits.seconds:
            return RunEnd.TIME
        return None

    def decide(self, chunk: ExaminedChunk, pk: int, count: int, space: EmbeddingSpace, rules: RuleSet) -> None:
        """Decide about one memory and move the cursor past `count` of them, in one transaction."""
        context = SaveContext(space, rules, TextVectors(space.dimension))
        for _ in range(_TRIES):
            try:
                with self.lock_row() as row:
                    outcome = self.decide_locked(chunk, pk, context)
                    self.move_cursor(row, pk, count, outcome)
            except VectorsMissingError:
                context.vectors.embed_missing()
            else:
                self.note_progress(pk, count, outcome)
                return
        raise SteppedAsideError  # the rows change each time: others write faster than we embed

    def decide_locked(self, chunk: ExaminedChunk, pk: int, context: SaveContext) -> VerdictOutcome | None:
        """Decide about the rows that are active now. Return the outcome; None if there is no conflict any more.

        Raises VectorsMissingError, SpaceChangedError.
        """
        unit = UnitOfWork(self._consolidation.actor, utcnow(self._clock), lock_shards([chunk.users[pk]]))
        hold_space(context.space)
        neighbourhood = chunk.neighbourhoods[pk]
        ids = [pk, *(one.id for one in neighbourhood.near)]
        rows = Memory.objects.active().filter(pk__in=ids).defer("lexemes").select_related("superseded_by")
        # One with another content has another vector too, and was compared with the others when it was changed.
        known = {row.pk: row for row in rows if row.content == chunk.contents.get(row.pk)}
        if pk not in known:
            return None
        finding = find_conflicts(pk, neighbourhood, known, context.rules, decided_partners([known[pk]]))
        if finding is None:
            return None
        verdict = finding.verdict()
        if self._consolidation.mode == ConsolidationMode.NOTICE and verdict.outcome is not VerdictOutcome.NOTICED:
            reason = (
                "Only noticed, as this consolidation is set to; both memories are kept. "
                f"The rule would have {WOULD_HAVE[verdict.outcome]}: {verdict.main.result.reason}"
            )
            verdict = notice_only(verdict, reason)
        case = Case(verdict, finding.record, finding.rule, finding.memories, Origin.CONSOLIDATION)
        receipt = decision_apply(unit, context, case)
        if context.vectors.missing:
            raise VectorsMissingError
        unit.write()
        return VerdictOutcome(str(receipt.outcome))

    @contextmanager
    def lock_row(self) -> Iterator[Consolidation]:
        """Lock the row in a transaction, unless another run has moved or changed it. Raises SteppedAsideError."""
        wanted = {"enabled": True} if self._only_if_enabled else {}
        with transaction.atomic():
            rows = Consolidation.objects.select_for_update(skip_locked=True)
            one = self._consolidation
            row = rows.filter(pk=one.pk, epoch=one.epoch, cursor=self._cursor, **wanted).first()
            if row is None:
                raise SteppedAsideError
            yield row

    def move_cursor(self, row: Consolidation, cursor: int, count: int, outcome: VerdictOutcome | None = None) -> None:
        """Move the cursor past `count` memories."""
        row.cursor, row.looked_at = cursor, row.looked_at + count
        row.noticed += outcome is VerdictOutcome.NOTICED
        row.decided += outcome not in {None, VerdictOutcome.NOTICED}
        row.save(update_fields=["cursor", "looked_at", "noticed", "decided"])

    def note_progress(self, cursor: int, count: int, outcome: VerdictOutcome | None) -> None:
        """Count what was committed."""
        self._cursor = cursor
        self.report.looked_at += count
        if outcome is not None:
            self.report.receipts[outcome] += 1
        if self._progress is not None:
            self._progress(count)
