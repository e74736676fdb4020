"""Which pairs of memories a chat model is asked about: those of receipts that noticed a conflict and are still open."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from apps.core.domain.scope import Scope
from apps.rules.domain.engine.judge import reason_not_to_ask
from apps.semantic.domain.disagreement import Places, compare_places
from apps.semantic.domain.judge import PROMPT_VERSION, PairQuestion
from apps.semantic.models import Conflict, ConflictOutcome, JudgedPair, Memory, Origin, ReviewState
from apps.semantic.models.judge import MAX_ASKED_MODEL_CHARS
from apps.semantic.querysets import ConflictQuerySet
from apps.semantic.store.rows import record_from_memory

# Of one receipt, the most severe first. A candidate that is near so many others is for a person.
MAX_PAIRS_OF_NOTICE = 4


@dataclass(frozen=True, eq=False)
class Pair:
    """The candidate of a notice and one of the memories that it conflicts with, both active. code: why not to ask."""

    notice: Conflict
    candidate: Memory
    existing: Memory

    @property
    def question(self) -> PairQuestion:
        """Return the question about the two as they are."""
        return PairQuestion(record_from_memory(self.candidate, None), record_from_memory(self.existing, None))

    @property
    def code(self) -> str:
        """Return why a model is not asked about them; nothing where it may be."""
        return reason_not_to_ask(self.candidate.content, self.existing.content) or ""


def model_key(provider: str, model: str) -> str:
    """Return the name of a model, of which each pair is asked once."""
    return f"{provider}/{model}"[:MAX_ASKED_MODEL_CHARS]


def judged_by(model: str) -> dict[str, Any]:
    """Return what the rows of pairs have in common that a model was asked about as it is asked now."""
    return {"prompt_version": PROMPT_VERSION, "model": model}


def undecided(scope: Scope, model: str) -> ConflictQuerySet:
    """Return the receipts of a scope whose pairs may still be put to a model, the oldest first.

    The oldest first, so that of three statements about one matter the first is replaced before the second is. What a
    model has judged once is left alone, whatever became of it: a decision that a person reverted is not made again.
    """
    judged = Conflict.objects.filter(about=OuterRef("pk"), origin=Origin.JUDGE)
    settled = JudgedPair.objects.filter(notice=OuterRef("pk"), settled_at__isnull=False, **judged_by(model))
    notices = Conflict.objects.in_scope(scope).filter(outcome=ConflictOutcome.NOTICED, state=ReviewState.OPEN)
    return notices.exclude(origin=Origin.JUDGE).filter(~Exists(judged), ~Exists(settled)).order_by("pk")


def pairs_of(notices: Sequence[Conflict]) -> list[list[Pair]]:
    """Return the pairs of each of some notices, the most severe first; of memories that are not active any more, none.

    Only memories of the same exact scope and place that say different things are put together: of another place a
    model knows nothing.
    """
    partners = [
        [notice.existing.uuid, *(UUID(other["existing"]["id"]) for other in notice.others)][:MAX_PAIRS_OF_NOTICE]
        for notice in notices
    ]
    wanted = {uuid for uuids in partners for uuid in uuids} | {notice.candidate.uuid for notice in notices}
    rows = Memory.objects.active().filter(uuid__in=wanted).defer("lexemes").select_related("superseded_by")
    memories = {memory.uuid: memory for memory in rows}
    found: list[list[Pair]] = []
    for notice, uuids in zip(notices, partners, strict=True):
        candidate = memories.get(notice.candidate.uuid)
        known = [memories[uuid] for uuid in uuids if uuid in memories]
        found.append([Pair(notice, candidate, one) for one in known if candidate and can_be_judged(candidate, one)])
    return found


def can_be_judged(candidate: Memory, existing: Memory) -> bool:
    """Return whether two memories hold in one place, which a model is not asked about, and say different things."""
    if candidate.scope != existing.scope or compare_places(candidate, existing) is not Places.ONE:
        return False
    return candidate.content_hash != existing.content_hash
