"""Review of a decision by a person: accept it, revert it, or override it (DESIGN D3).

The last two leave receipts of their own. Reverting puts every row that the decision changed back exactly to its state
of before, and soft-deletes what the decision created, the saved memory included: afterwards it is as if the save had
not been. To keep both memories, override the decision with `both`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from prometheus_client import Counter

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.errors import ConflictError
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Access
from apps.semantic.conflicts.receipts import complete_receipt, decided_event, scope_columns
from apps.semantic.domain.state import MemoryState, Transition
from apps.semantic.models import Conflict, ConflictOutcome, Memory, MemoryStatus, Origin, ReviewState, RevisionAction
from apps.semantic.selectors import conflict_get
from apps.semantic.store.details import change_details, details_without
from apps.semantic.store.rows import key_after
from apps.semantic.store.unit_of_work import UnitOfWork, state_of, unit_of_work

TAKEN_BACK = "taken_back"
ACTIONS = {
    MemoryStatus.ACTIVE: RevisionAction.REVERTED,
    MemoryStatus.DELETED: RevisionAction.DELETED,
    MemoryStatus.SUPERSEDED: RevisionAction.SUPERSEDED,
    MemoryStatus.MERGED: RevisionAction.MERGED,
    MemoryStatus.REJECTED: RevisionAction.REJECTED,
}
ACCEPTED = Counter("memoryhub_conflicts_accepted", "Decisions that a person has accepted.")


class Winner(StrEnum):
    """Which memory is to be active."""

    CANDIDATE = "candidate"
    EXISTING = "existing"
    BOTH = "both"


OUTCOMES = {
    Winner.CANDIDATE: ConflictOutcome.SUPERSEDED_EXISTING,
    Winner.EXISTING: ConflictOutcome.KEPT_EXISTING,
    Winner.BOTH: ConflictOutcome.KEPT_BOTH,
}
DECIDED = {
    Winner.CANDIDATE: "the candidate memory wins.",
    Winner.EXISTING: "the existing memory wins.",
    Winner.BOTH: "both memories are kept.",
}


@dataclass(frozen=True, eq=False)
class StateChange:
    """A memory, the state that it is to have, and details of it, by name."""

    memory: Memory
    target: MemoryState
    details: Mapping[str, Any] = field(default_factory=dict)


def conflict_accept(
    *, access: Access, uuid: UUID, seen: ReviewState | None = None, clock: Clock = SYSTEM_CLOCK
) -> Conflict:
    """Confirm a decision, so that it leaves the queue of reviews. One that was accepted keeps who did so, and when.

    seen: the state of its review that the caller decided about. Raises NotFoundError, or ConflictError when the
    decision is not in force any more, or has another state than was seen.
    """
    with lock_receipt(access, uuid, clock, seen) as (receipt, unit):
        if receipt.state == ReviewState.OPEN:
            set_review(receipt, ReviewState.ACCEPTED, unit.actor, unit.now)
            transaction.on_commit(ACCEPTED.inc)
    return receipt


def conflict_revert(
    *, access: Access, uuid: UUID, seen: ReviewState | None = None, clock: Clock = SYSTEM_CLOCK
) -> Conflict:
    """Undo a decision. Return the receipt of that, which can be reverted in turn. seen: see `conflict_accept`.

    Raises NotFoundError, or ConflictError that says what has happened since and what to do about it.
    """
    with lock_receipt(access, uuid, clock, seen) as (receipt, unit):
        if not can_revert(receipt):
            raise ConflictError("Both memories were kept: there is nothing to revert.", code="nothing_to_revert")
        return revert_locked(receipt, unit)


def revert_locked(receipt: Conflict, unit: UnitOfWork) -> Conflict:
    """Undo a decision that `lock_receipt` yielded. Return the receipt of that. Raises ConflictError."""
    revert = receipt
    while revert.origin == Origin.REVERT and revert.about is not None and revert.about.about is not None:
        brought_back = revert.about.about
        if not brought_back.is_in_force:  # reverting this would undo unnoticed what was decided about it since
            later = Conflict.objects.in_force().filter(about=brought_back).order_by("id").last()
            by = f"by the decision {later.uuid}: revert that one first." if later else "since."
            detail = f"The decision {brought_back.uuid}, which this one brought back, was decided about again {by}"
            raise ConflictError(detail, code="changed_since")
        revert = brought_back
    changes = changes_back(receipt)
    answer = answer_to(receipt, Origin.REVERT, ConflictOutcome.REVERTED, f"Reverted by {unit.actor}.")
    apply_changes(unit, answer, changes, None)
    set_review(receipt, ReviewState.REVERTED, unit.actor, unit.now)
    reinstate(receipt, unit)
    return answer


def conflict_override(
    *, access: Access, uuid: UUID, winner: Winner, seen: ReviewState | None = None, clock: Clock = SYSTEM_CLOCK
) -> Conflict:
    """Replace a decision by another one. Return the receipt of that, which can be reverted.

    seen: see `conflict_accept`. Raises NotFoundError, or ConflictError as `conflict_revert` does, and when it was
    decided like that already.
    """
    with lock_receipt(access, uuid, clock, seen) as (receipt, unit):
        if receipt.origin == Origin.REVERT:
            detail = "This is the receipt of a revert: revert it, or override the decision that is in force."
            raise ConflictError(detail, code="not_a_decision")
        is_noticed = receipt.outcome == ConflictOutcome.NOTICED and winner is Winner.BOTH
        if receipt.outcome == OUTCOMES[winner] or is_noticed:
            detail = f"It was decided so already: {DECIDED[winner]} Accept it instead."
            raise ConflictError(detail, code="decided_so")
        changes = changes_for(receipt, winner, unit.now)
        reason = f"{access.actor} decided: {DECIDED[winner]}"
        answer = answer_to(receipt, Origin.OVERRIDE, OUTCOMES[winner], reason)
        answer.winner = "" if winner is Winner.BOTH else winner.value
        result = {Winner.CANDIDATE: receipt.candidate, Winner.EXISTING: receipt.existing, Winner.BOTH: None}[winner]
        apply_changes(unit, answer, changes, result)
        set_review(receipt, ReviewState.OVERRIDDEN, unit.actor, unit.now)
    return answer


def can_revert(receipt: Conflict) -> bool:
    """Return whether there is something to revert: memories that were changed, or a notice that was settled."""
    settles = receipt.origin in {Origin.JUDGE, Origin.REVERT}
    return receipt.outcome != ConflictOutcome.NOTICED and (settles or bool(receipt.transitions))


@contextmanager
def lock_receipt(
    access: Access, uuid: UUID, clock: Clock, seen: ReviewState | None = None
) -> Iterator[tuple[Conflict, UnitOfWork]]:
    """Read a receipt of the caller's again once no other writer of its user is active.

    What was left to a person is decided by no application (DESIGN D20). Raises NotFoundError; ForbiddenError for a
    caller of a lower origin than one of its memories, unless an operator; or ConflictError when it is not in force any
    more, or has another state than was seen.
    """
    user = conflict_get(access, uuid).user_id
    with unit_of_work(user, actor=access.actor, clock=clock) as unit:
        receipt = conflict_get(access, uuid)
        for memory in (receipt.candidate, receipt.existing):
            access.require_origin(WriteOrigin(memory.origin))
        if not receipt.is_in_force:
            answer = receipt.answers.filter(state__in=(ReviewState.OPEN, ReviewState.ACCEPTED)).last()
            by = f" by {answer.uuid} at {answer.at.isoformat()}; revert that one to bring it back" if answer else ""
            raise ConflictError(f"This decision was {receipt.state}{by}.", code=f"already_{receipt.state}")
        if seen is not None and receipt.state != seen:
            raise changed_review(receipt)
        yield receipt, unit


def changed_review(receipt: Conflict) -> ConflictError:
    """Return the refusal of a step about a receipt whose review is not any more what the caller saw."""
    if receipt.state == ReviewState.OPEN or receipt.reviewed_at is None:
        return ConflictError("The review of this decision was undone: it is open again.", code="changed_since")
    detail = f"This decision was {receipt.state} by {receipt.reviewed_by} at {receipt.reviewed_at.isoformat()}."
    return ConflictError(detail, code=f"already_{receipt.state}")


def transitions_of(receipt: Conflict) -> list[Transition]:
    """Return the changes of states that a receipt keeps."""
    return [Transition.from_json(data) for data in receipt.transitions]


def read_memories(uuids: Collection[UUID | None]) -> dict[UUID, Memory]:
    """Read memories by id."""
    wanted = {uuid for uuid in uuids if uuid is not None}
    return {row.uuid: row for row in Memory.objects.filter(uuid__in=wanted).select_related("superseded_by")}


def changes_back(
    receipt: Conflict, checked: Collection[UUID] = (), later: Mapping[UUID, StateChange] = MappingProxyType({})
) -> list[StateChange]:
    """Return what puts every row back to its state of before. Raises ConflictError when one has changed since.

    Details that have changed since keep those changes. checked: memories that may have another state, because a later
    decision that is undone as well has changed them; later: what undoing those changes.
    """
    transitions = transitions_of(receipt)
    memories = read_memories([step.memory for step in transitions])
    problems: list[str] = []
    changes: dict[UUID, StateChange] = {}
    for step in transitions:
        memory = memories[step.memory]
        state = state_of(memory)
        change = changes.get(step.memory) or later.get(step.memory) or StateChange(memory, state)
        if step.details:
            details = details_without(memory, step.details, change.details)
            changes[step.memory] = replace(change, details={**change.details, **details})
            continue
        target = step.before or MemoryState(MemoryStatus.DELETED.value, state.superseded_by)
        is_back = state.has_same_status(target) or (step.before is None and memory.status == MemoryStatus.DELETED)
        if step.memory in checked or (not is_back and state.has_same_status(step.after)):
            changes[step.memory] = replace(change, target=target)
        elif not is_back:
            problems.append(describe_change_since(memory, receipt))
    if problems:
        raise ConflictError(" ".join(problems), code="changed_since")
    return list(changes.values())


def changes_for(receipt: Conflict, winner: Winner, now: datetime) -> list[StateChange]:
    """Return what makes the winner active, whatever the decision did to its memories. Raises ConflictError."""
    candidate, existing = receipt.candidate, receipt.existing
    changes: dict[UUID, StateChange] = {}
    touched: set[UUID] = set()
    for decision in decisions_undone(receipt):
        changes |= {change.memory.uuid: change for change in changes_back(decision, touched, changes)}
        touched |= {step.memory for step in transitions_of(decision) if not step.details}
    problems = [
        describe_change_since(one, receipt)
        for one in (candidate, existing)
        # Those that the decision changed were checked when it was undone.
        if one.status != MemoryStatus.ACTIVE and (one.uuid not in touched or one.status == MemoryStatus.DELETED)
    ]
    if problems:
        raise ConflictError(" ".join(problems), code="changed_since")
    loser = {Winner.CANDIDATE: existing, Winner.EXISTING: candidate, Winner.BOTH: None}[winner]
    for memory, other in ((candidate, existing), (existing, candidate)):
        back = changes.get(memory.uuid)
        if memory is loser:
            target = MemoryState(MemoryStatus.SUPERSEDED.value, other.uuid, now)
        elif back is not None and back.target.status == MemoryStatus.ACTIVE:
            target = back.target  # as it was before, with its date
        else:
            target = MemoryState(MemoryStatus.ACTIVE.value)
        changes[memory.uuid] = StateChange(memory, target, back.details if back else {})
    if winner is Winner.CANDIDATE:
        # The further memories that it won are superseded by it again.
        further = {UUID(other["existing"]["id"]) for other in receipt.others if other["applied"]}
        target = MemoryState(MemoryStatus.SUPERSEDED.value, candidate.uuid, now)
        changes |= {uuid: replace(changes[uuid], target=target) for uuid in further & changes.keys()}
    return list(changes.values())


def decisions_undone(receipt: Conflict) -> Iterator[Conflict]:
    """Yield a decision and those that it overrides, the latest first."""
    decision: Conflict | None = receipt
    while decision is not None:
        yield decision
        decision = decision.about if decision.origin == Origin.OVERRIDE else None


def describe_change_since(memory: Memory, receipt: Conflict) -> str:
    """Return what has happened to a memory since a decision, and what to do about it."""
    step = memory.revisions.filter(at__gte=receipt.at, changes__has_key="status").exclude(conflict=receipt.uuid).last()
    if step is None:
        return f"The memory {memory.uuid} is {memory.status} now."
    text = f"The memory {memory.uuid} was {step.action} by {step.actor} at {step.at.isoformat()}"
    if step.conflict is not None:
        return f"{text} by the decision {step.conflict}: revert that one first."
    return f"{text}: restore it first."


def check_can_apply(changes: Sequence[StateChange]) -> None:
    """Raise ConflictError if a memory would be active whose content, tags and moment another active one has by now.

    So too if one would be deleted that a caller gave another content than it was created with.
    """
    leaving = {change.memory.pk for change in changes if change.target.status != MemoryStatus.ACTIVE}
    others = Memory.objects.active().exclude(pk__in=leaving)
    for change in changes:
        if change.target.status != MemoryStatus.ACTIVE:
            continue
        memory = change.memory
        duplicate = others.with_key(*key_after(memory, change.details)).exclude(pk=memory.pk).first()
        if duplicate is not None:
            detail = f"The content of {memory.uuid} was saved again since, as {duplicate.uuid}: delete that one first."
            raise ConflictError(detail, code="duplicate")
    for memory in (change.memory for change in changes if change.target.status == MemoryStatus.DELETED):
        is_kept = memory.status != MemoryStatus.DELETED
        if is_kept and memory.revisions.filter(changes__has_key="content").exists():
            detail = f"The content of {memory.uuid} was changed since: keep it by an override, or delete it first."
            raise ConflictError(detail, code="changed_since")


def apply_changes(unit: UnitOfWork, answer: Conflict, changes: Sequence[StateChange], result: Memory | None) -> None:
    """Change the states of memories, and complete the receipt of that. Raises ConflictError.

    Those that become active come last: two of the same content are never active at once.
    """
    check_can_apply(changes)
    by = read_memories([change.target.superseded_by for change in changes])
    transitions: list[Transition] = []
    changed = [change for change in changes if not state_of(change.memory).has_same_status(change.target)]
    for change in sorted(changed, key=lambda change: change.target.status == MemoryStatus.ACTIVE):
        status, superseded_by = MemoryStatus(change.target.status), change.target.superseded_by
        since = change.target.status_changed_at
        if status == MemoryStatus.DELETED and since is None:  # deleted by this very step, not put back to an old state
            since = unit.now
        replacement = by[superseded_by] if superseded_by else None
        transitions.append(
            unit.change_status(
                change.memory, status, replacement, action=ACTIONS[status], receipt=answer.uuid, since=since
            )
        )
    for change in changes:
        transitions += change_details(unit, change.memory, change.details, reason=TAKEN_BACK, receipt=answer.uuid)
    complete_receipt(answer, actor=unit.actor, at=unit.now, result=result, transitions=transitions)
    unit.receipts.append(answer)
    unit.events.append(decided_event(answer))


def answer_to(receipt: Conflict, origin: Origin, outcome: ConflictOutcome, reason: str) -> Conflict:
    """Return the receipt of a person's decision about another receipt."""
    copied = (
        "candidate", "existing", "rule_name", "rule_version", "registry_version", "rule",
        "signals", "total_score", "similarity", "records", "others",
    )  # fmt: skip
    return Conflict(
        **scope_columns(receipt.candidate),
        **{name: getattr(receipt, name) for name in copied},
        uuid=uuid4(),
        origin=origin,
        outcome=outcome,
        about=receipt,
        about_state=receipt.state,
        about_reviewed_by=receipt.reviewed_by,
        about_reviewed_at=receipt.reviewed_at,
        action="keep" if origin == Origin.OVERRIDE else "revert",
        strategy=str(origin),
        confidence=1.0,
        reason=reason,
    )


def reinstate(reverted: Conflict, unit: UnitOfWork) -> None:
    """Put what a reverted receipt was about in force again, and so what that one was about out of force."""
    again = reverted.about
    if again is None:
        return
    by, at = reverted.about_reviewed_by, reverted.about_reviewed_at
    if at is None and reverted.about_state != ReviewState.OPEN:  # decided before receipts kept who had reviewed it
        by, at = unit.actor, unit.now
    set_review(again, ReviewState(reverted.about_state), by, at)
    if again.about is not None:
        is_override = again.origin in {Origin.OVERRIDE, Origin.JUDGE}
        state = ReviewState.OVERRIDDEN if is_override else ReviewState.REVERTED
        set_review(again.about, state, again.actor, again.at)
        if not is_override:
            reinstate(again.about, unit)


def set_review(receipt: Conflict, state: ReviewState, by: str, at: datetime | None) -> None:
    """Set the state of the review of a receipt, by whom and when; an open one has neither."""
    receipt.state, receipt.reviewed_by, receipt.reviewed_at = state, by, at
    receipt.save(update_fields=["state", "reviewed_by", "reviewed_at"])
