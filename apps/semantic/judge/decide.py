"""What follows from the answers about the pairs of one notice: a decision by the rules, with a receipt of its own.

The rows are read again under the lock of their user. What has changed since the question is left alone: a memory that
is not active any more, one that says something else, and a notice that a person has reviewed.
"""

from collections.abc import Sequence

import numpy as np
from django.db import transaction

from apps.core.domain.clock import Clock, utcnow
from apps.llm.selectors import EmbeddingSpace
from apps.rules.domain.engine.arbitration import SIDES, DetectedConflict
from apps.rules.domain.engine.judge import JudgedConflict, JudgeVerdict, Opinion, decide_judged
from apps.rules.domain.engine.verdict import Verdict, VerdictOutcome
from apps.rules.selectors import active_rules
from apps.semantic.conflicts.candidate import Case, SaveContext
from apps.semantic.conflicts.decisions import decision_apply
from apps.semantic.conflicts.review import set_review
from apps.semantic.domain.disagreement import find_disagreement
from apps.semantic.judge.ask import ACTOR
from apps.semantic.judge.pairs import Pair, judged_by, pairs_of
from apps.semantic.models import (
    Conflict,
    ConflictOutcome,
    JudgedPair,
    JudgedPairState,
    MemoryEmbedding,
    Origin,
    ReviewState,
)
from apps.semantic.store.embedding_space import TextVectors, VectorsMissingError, hold_space
from apps.semantic.store.rows import record_from_memory
from apps.semantic.store.unit_of_work import UnitOfWork, lock_shards

MAX_ACTOR_CHARS = 200
CHANGED = "changed"
_TRIES = 5


class BusyMemoriesError(Exception):
    """The memories change faster than what they are merged into can be embedded."""


def decide(notice: Conflict, model: str, space: EmbeddingSpace, clock: Clock) -> VerdictOutcome | None:
    """Decide about a notice whose pairs were put to a model, and settle it. Return the outcome; None for no decision.

    Raises SpaceChangedError, BusyMemoriesError and others; nothing is changed then.
    """
    context = SaveContext(space, active_rules(), TextVectors(space.dimension))
    for _ in range(_TRIES):
        try:
            with transaction.atomic():
                return decide_locked(notice, model, context, clock)
        except VectorsMissingError:
            context.vectors.embed_missing()
    raise BusyMemoriesError


def decide_locked(notice: Conflict, model: str, context: SaveContext, clock: Clock) -> VerdictOutcome | None:
    """Decide about the rows as they are now. Raises VectorsMissingError, SpaceChangedError."""
    versions = lock_shards([notice.user_id])
    hold_space(context.space)
    receipts = Conflict.objects.select_related("candidate", "existing")
    notice = receipts.get(pk=notice.pk)
    is_open = notice.outcome == ConflictOutcome.NOTICED and notice.state == ReviewState.OPEN
    [pairs] = pairs_of([notice]) if is_open else [[]]
    opinions = opinions_about(pairs, model)
    outcome = None
    if any(opinions):
        answered = next(opinion for opinion in opinions if opinion is not None)
        unit = UnitOfWork(f"{ACTOR}:{answered.model}"[:MAX_ACTOR_CHARS], utcnow(clock), versions)
        receipt = decision_apply(unit, context, case_of(notice, pairs, opinions, context))
        if context.vectors.missing:
            raise VectorsMissingError
        unit.write()
        set_review(notice, ReviewState.OVERRIDDEN, unit.actor, unit.now)
        outcome = VerdictOutcome(str(receipt.outcome))
    settle(notice, model, clock)
    return outcome


def opinions_about(pairs: Sequence[Pair], model: str) -> list[Opinion | None]:
    """Return the recorded opinion about each pair; None where there is none about what its memories say now."""
    rows = JudgedPair.objects.filter(candidate__in=[pair.candidate for pair in pairs], **judged_by(model))
    known = {(row.candidate_id, row.existing_id): row for row in rows}
    found: list[Opinion | None] = []
    for pair in pairs:
        row, opinion = known.get((pair.candidate.pk, pair.existing.pk)), None
        is_current = row is not None and row.digest == pair.question.digest()
        if row is not None and is_current and row.state == JudgedPairState.ANSWERED and row.confidence is not None:
            holds = next((side for side in SIDES if side == row.holds), None)
            verdict = JudgeVerdict(row.verdict)
            opinion = Opinion(verdict, holds, row.confidence, row.reason, row.answered_by, row.prompt_version)
        found.append(opinion)
    return found


def case_of(notice: Conflict, pairs: Sequence[Pair], opinions: Sequence[Opinion | None], context: SaveContext) -> Case:
    """Return what the rules decide about the candidate of a notice."""
    candidate = pairs[0].candidate
    wanted = {memory.pk for pair in pairs for memory in (pair.candidate, pair.existing)}
    stored = MemoryEmbedding.objects.filter(space=context.space, memory__in=wanted).values_list("memory", "vector")
    vectors = {pk: np.asarray(vector, dtype=np.float32) for pk, vector in stored}
    record = record_from_memory(candidate, vectors.get(candidate.pk))
    rule = context.rules.matching(record)
    judged = []
    for pair, opinion in zip(pairs, opinions, strict=True):
        existing = record_from_memory(pair.existing, vectors.get(pair.existing.pk))
        detection = find_disagreement(record, existing, rule.detection)
        judged.append(JudgedConflict(DetectedConflict(existing, detection), opinion))
    verdict: Verdict = decide_judged(record, judged, rule.detection, rule.arbitration)
    memories = {str(memory.uuid): memory for memory in (candidate, *(pair.existing for pair in pairs))}
    return Case(verdict, record, rule, memories, Origin.JUDGE, about=notice)


def settle(notice: Conflict, model: str, clock: Clock) -> None:
    """Record that nothing more follows from asking this model about a notice."""
    rows = JudgedPair.objects.filter(notice=notice, **judged_by(model))
    if rows.update(settled_at=utcnow(clock)) == 0:
        skipped = {"state": JudgedPairState.SKIPPED, "code": CHANGED, "settled_at": utcnow(clock)}
        pair = {"candidate": notice.candidate, "existing": notice.existing}
        JudgedPair.objects.get_or_create(**pair, **judged_by(model), defaults={"notice": notice, **skipped})
