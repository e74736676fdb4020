"""What the page of a conflict shows, made from its receipt: see templates/semantic/conflict.html."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.template.defaultfilters import truncatechars
from django.urls import reverse

from apps.core.admin.kit import NOTHING, badge, moment, pretty_json
from apps.rules.selectors import MergeRuleVersion
from apps.semantic.conflicts.review import Winner, decisions_undone
from apps.semantic.domain.receipt_words import OUTCOMES, signal_words
from apps.semantic.domain.state import MemoryState, Transition
from apps.semantic.domain.word_diff import Piece, differences, provenance
from apps.semantic.models import Conflict, ConflictOutcome, Memory, Origin, ReviewState

OUTCOME_COLOURS = {
    ConflictOutcome.NOTICED: "warning",
    ConflictOutcome.SUPERSEDED_EXISTING: "info",
    ConflictOutcome.KEPT_EXISTING: "info",
    ConflictOutcome.MERGED: "primary",
    ConflictOutcome.REJECTED: "danger",
    ConflictOutcome.KEPT_BOTH: "success",
    ConflictOutcome.REVERTED: None,
}
STATE_COLOURS = {
    ReviewState.OPEN: "warning", ReviewState.ACCEPTED: "success", ReviewState.OVERRIDDEN: None,
    ReviewState.REVERTED: None,
}  # fmt: skip
MEMORY_COLOURS = {
    "active": "success",
    "superseded": "warning",
    "merged": "info",
    "rejected": "danger",
    "deleted": "danger",
}
SHOWN_EXCERPT_CHARS = 160
MAX_CHAIN = 50


def conflict_page(receipt: Conflict, *, may_read: bool) -> dict[str, Any]:
    """The parts of the page. may_read: whether the person may see contents of memories."""
    rows = _memories(receipt)
    return {
        "may_read": may_read,
        "summary": OUTCOMES.get(receipt.outcome, receipt.outcome),
        "outcome": badge(receipt.get_outcome_display(), OUTCOME_COLOURS.get(ConflictOutcome(receipt.outcome))),
        "state": badge(receipt.get_state_display(), STATE_COLOURS.get(ReviewState(receipt.state))),
        "sides": _sides(receipt),
        "result": _result(receipt),
        "signals": [signal_words(signal) for signal in receipt.signals],
        "facts": list(_facts(receipt)),
        "rule_url": rule_url(receipt),
        "rule": pretty_json(receipt.rule),
        "others": [_other(one, rows) for one in receipt.others],
        "transitions": [_transition(step, receipt, rows) for step in _steps(receipt)],
        "chain": [_link(one, receipt) for one in _chain(receipt)],
        "merge": receipt.merge,
    }


def may_decide(receipt: Conflict) -> set[str]:
    """The steps that a person can take about a receipt: accept, revert, and the winners to override it with."""
    if not receipt.is_in_force:
        return set()
    steps = {"accept"} if receipt.state == ReviewState.OPEN else set()
    if receipt.transitions and receipt.outcome != ConflictOutcome.NOTICED:
        steps.add("revert")
    if receipt.origin != Origin.REVERT:
        steps |= {winner.value for winner in Winner} - _idle(ConflictOutcome(receipt.outcome))
    return steps


def consequences(receipt: Conflict, step: str, *, may_read: bool) -> list[str]:
    """What a step would do, a sentence for each thing; a last one where it may be refused."""
    if step == "accept":
        return [
            "Nothing changes about the memories.",
            "The decision leaves the queue. It can still be decided otherwise or reverted.",
        ]
    rows = _memories(receipt)
    names = _Names(receipt, rows, may_read)
    done = list(_undone(receipt, rows, names) if step == "revert" else _overridden(receipt, Winner(step), rows, names))
    moved = [names.of(one.memory) for one in _steps(receipt) if _has_moved(one, rows)]
    if moved:
        done.append(f"Changed since the decision: {', '.join(moved)}. If that stands in the way, you are told why.")
    return [*done, "This leaves a receipt of its own, which can be reverted."]


def rule_url(receipt: Conflict) -> str:
    """The page of the rule as it was; that of its changes where it has none of its own."""
    change = MergeRuleVersion.objects.filter(version=receipt.rule_version, rule_name=receipt.rule_name).first()
    if change is not None:
        return reverse("admin:rules_mergeruleversion_change", args=[change.pk])
    return f"{reverse('admin:rules_mergeruleversion_changelist')}?q={receipt.rule_name}" if receipt.rule_name else ""


class _Names:
    """What memories are called: by their part in the receipt, and by their words for those who may read them."""

    def __init__(self, receipt: Conflict, rows: Mapping[UUID, Memory], may_read: bool) -> None:
        self._rows, self._may_read = rows, may_read
        self._parts = {receipt.candidate.uuid: "the candidate", receipt.existing.uuid: "the existing memory"}
        if receipt.outcome == ConflictOutcome.MERGED and receipt.result is not None:
            self._parts.setdefault(receipt.result.uuid, "the merged memory")

    def of(self, uuid: UUID) -> str:
        part = self._parts.get(uuid, f"the memory {uuid}")
        if not self._may_read or uuid not in self._rows:
            return part
        return f"{part} “{truncatechars(self._rows[uuid].content, SHOWN_EXCERPT_CHARS)}”"


def _idle(outcome: ConflictOutcome) -> set[str]:
    """The winners that would change nothing."""
    return {
        ConflictOutcome.NOTICED: {Winner.BOTH.value},
        ConflictOutcome.KEPT_BOTH: {Winner.BOTH.value},
        ConflictOutcome.SUPERSEDED_EXISTING: {Winner.CANDIDATE.value},
        ConflictOutcome.KEPT_EXISTING: {Winner.EXISTING.value},
    }.get(outcome, set())


def _steps(receipt: Conflict) -> list[Transition]:
    return [Transition.from_json(data) for data in receipt.transitions]


def _memories(receipt: Conflict) -> dict[UUID, Memory]:
    """All that the receipt names, by id."""
    wanted = {step.memory for one in decisions_undone(receipt) for step in _steps(one)} | {
        UUID(one["existing"]["id"]) for one in receipt.others
    }
    wanted |= {one.uuid for one in (receipt.candidate, receipt.existing, receipt.result) if one}
    rows = Memory.objects.filter(uuid__in=wanted).defer("lexemes").select_related("superseded_by")
    return {row.uuid: row for row in rows}


def _place(memory: Memory) -> MemoryState:
    return MemoryState(str(memory.status), memory.superseded_by.uuid if memory.superseded_by else None)


def _has_moved(step: Transition, rows: Mapping[UUID, Memory]) -> bool:
    return step.memory in rows and not _place(rows[step.memory]).has_same_status(step.after)


def _undone(receipt: Conflict, rows: Mapping[UUID, Memory], names: _Names) -> Iterator[str]:
    for step in _steps(receipt):
        if step.before is None:
            yield _sentence(f"{names.of(step.memory)} is deleted, and can be restored")
        else:
            yield _sentence(f"{names.of(step.memory)} is {step.before.status} again, exactly as before")
    if receipt.about is not None:
        yield f"The receipt that this one answers is {receipt.about_state} again."


def _overridden(receipt: Conflict, winner: Winner, rows: Mapping[UUID, Memory], names: _Names) -> Iterator[str]:
    sides = {Winner.CANDIDATE: receipt.candidate.uuid, Winner.EXISTING: receipt.existing.uuid}
    for side, uuid in sides.items():
        stands = winner in {side, Winner.BOTH}
        yield _sentence(f"{names.of(uuid)} {'stands' if stands else 'is superseded'}")
    leaving = {UUID(one["existing"]["id"]) for one in receipt.others if one.get("applied")}
    for uuid, before in _others_before(receipt, sides.values()).items():
        status = rows[uuid].status if uuid in rows else ""
        if before is None and status != "deleted":
            yield _sentence(f"{names.of(uuid)} is deleted, and can be restored")
        elif before is not None and uuid in leaving and winner is Winner.CANDIDATE:
            yield _sentence(f"{names.of(uuid)} is superseded by the candidate")
        elif before is not None and status != before.status:
            yield _sentence(f"{names.of(uuid)} is {before.status} again")


def _others_before(receipt: Conflict, sides: Collection[UUID]) -> dict[UUID, MemoryState | None]:
    """Where further memories stood before a decision and those that it overrides."""
    return {
        step.memory: step.before
        for one in decisions_undone(receipt)
        for step in _steps(one)
        if step.memory not in sides
    }


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _sides(receipt: Conflict) -> list[dict[str, Any]]:
    records = receipt.records
    pieces = differences(records["candidate"]["content"], records["existing"]["content"])
    sides = (("candidate", receipt.candidate), ("existing", receipt.existing))
    return [_side(name, memory, records[name], marked) for (name, memory), marked in zip(sides, pieces, strict=True)]


def _side(name: str, memory: Memory, record: Mapping[str, Any], pieces: Sequence[Piece]) -> dict[str, Any]:
    return {
        "name": name.capitalize(),
        "pieces": pieces,
        "facts": [
            ("Time", moment(datetime.fromisoformat(record["timestamp"]))),
            ("Source", record["source"]),
            ("Importance", f"{record['importance']:g}"),
            ("Confidence claimed", f"{memory.base_confidence:g}"),
        ],
        "keywords": ", ".join(record["keywords"]),
        **_standing(memory),
    }


def _standing(memory: Memory) -> dict[str, Any]:
    return {
        "status": badge(memory.get_status_display(), MEMORY_COLOURS[memory.status]),
        "stands": memory.status == "active",
        "url": reverse("admin:semantic_memory_change", args=[memory.pk]),
        "id": memory.uuid,
    }


def _result(receipt: Conflict) -> dict[str, Any] | None:
    """What two became; none where one of them, or both, stand."""
    merged = receipt.result
    if receipt.outcome != ConflictOutcome.MERGED or merged is None:
        return None
    sources = [receipt.records[side]["content"] for side in ("candidate", "existing")]
    return {"pieces": provenance(merged.content, *sources), **_standing(merged)}


def _facts(receipt: Conflict) -> Iterator[tuple[str, str]]:
    yield "Decided", f"{moment(receipt.at)} by {receipt.actor}"
    yield "Led to it", receipt.get_origin_display()
    yield "User", receipt.user_id
    yield from ((name, value) for name, value in _further_scope(receipt) if value)
    yield "Total score of the signals", f"{receipt.total_score:.2f}"
    yield "Cosine", NOTHING if receipt.similarity is None else f"{receipt.similarity:.3f}"
    if receipt.reviewed_at:
        yield "Looked at", f"{moment(receipt.reviewed_at)} by {receipt.reviewed_by}"
    yield "Id", str(receipt.uuid)


def _further_scope(receipt: Conflict) -> Iterable[tuple[str, str]]:
    return (("Household", receipt.household_id), ("Persona", receipt.persona_id))


def _other(one: Mapping[str, Any], rows: Mapping[UUID, Memory]) -> dict[str, Any]:
    """A further conflict of the same candidate."""
    memory = rows.get(UUID(one["existing"]["id"]))
    return {
        "content": one["existing"]["content"],
        "signals": [signal_words(signal) for signal in one["signals"]],
        "reason": one["reason"],
        "applied": one.get("applied", False),
        "memory": _standing(memory) if memory else None,
    }


def _transition(step: Transition, receipt: Conflict, rows: Mapping[UUID, Memory]) -> dict[str, Any]:
    memory = rows.get(step.memory)
    return {
        "name": _Names(receipt, rows, may_read=False).of(step.memory).capitalize(),
        "before": step.before.status if step.before else "did not exist",
        "after": step.after.status,
        "moved": _has_moved(step, rows),
        "memory": _standing(memory) if memory else None,
    }


def _chain(receipt: Conflict) -> list[Conflict]:
    """The receipt with those that it answers and those that answer it, the first one first; empty if it is alone."""
    known = edge = {receipt.uuid}
    while edge and len(known) < MAX_CHAIN:
        below = Conflict.objects.filter(about__uuid__in=edge).values_list("uuid", flat=True)
        above = Conflict.objects.filter(answers__uuid__in=edge).values_list("uuid", flat=True)
        edge = {*below[:MAX_CHAIN], *above} - known
        known = known | edge
    return list(Conflict.objects.filter(uuid__in=known).order_by("id")[:MAX_CHAIN]) if len(known) > 1 else []


def _link(one: Conflict, receipt: Conflict) -> dict[str, Any]:
    return {
        "url": reverse("admin:semantic_conflict_change", args=[one.pk]),
        "is_this": one.pk == receipt.pk,
        "what": f"{one.get_origin_display()}: {one.get_outcome_display().lower()}",
        "when": f"{moment(one.at)} by {one.actor}",
        "state": badge(one.get_state_display(), STATE_COLOURS.get(ReviewState(one.state))),
    }
