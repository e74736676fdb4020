"""What a person makes of a decision: accept it, revert it, or decide otherwise (DESIGN D3).

The last two leave receipts of their own. Reverting puts every row that the decision changed back exactly where it
stood, and soft-deletes what the decision brought into being, the saved memory included: afterwards it is as if the save
had not been. To keep both memories, override the decision with `both`.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID, uuid4

from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError
from apps.core.domain.scope import Access
from apps.semantic.conflicts.receipts import complete_receipt, decided_event, scope_columns
from apps.semantic.domain.state import MemoryState, Transition
from apps.semantic.models import Conflict, ConflictOutcome, Memory, MemoryStatus, Origin, ReviewState, RevisionAction
from apps.semantic.selectors import conflict_get
from apps.semantic.store.locks import lock_shards
from apps.semantic.store.unit_of_work import UnitOfWork, state_of

ACTIONS = {
    MemoryStatus.ACTIVE: RevisionAction.REVERTED,
    MemoryStatus.DELETED: RevisionAction.DELETED,
    MemoryStatus.SUPERSEDED: RevisionAction.SUPERSEDED,
    MemoryStatus.MERGED: RevisionAction.MERGED,
    MemoryStatus.REJECTED: RevisionAction.REJECTED,
}


class Winner(StrEnum):
    """Which memory is to stand."""

    CANDIDATE = "candidate"
    EXISTING = "existing"
    BOTH = "both"


OUTCOMES = {
    Winner.CANDIDATE: ConflictOutcome.SUPERSEDED_EXISTING,
    Winner.EXISTING: ConflictOutcome.KEPT_EXISTING,
    Winner.BOTH: ConflictOutcome.KEPT_BOTH,
}


@dataclass(frozen=True, eq=False)
class _Move:
    """A memory and where it is to stand."""

    memory: Memory
    target: MemoryState


def conflict_accept(*, access: Access, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> Conflict:
    """Say that a decision is right, so that nobody needs to look at it again.

    Raises NotFoundError, or ConflictError when it is not in force any more.
    """
    with _reviewing(access, uuid, clock) as (receipt, _):
        _check_in_force(receipt)
        _review(receipt, ReviewState.ACCEPTED, access.actor, utcnow(clock))
    return receipt


def conflict_revert(*, access: Access, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> Conflict:
    """Undo a decision; gives the receipt of that, which can be reverted in turn.

    Raises NotFoundError, or ConflictError that says what has happened since and what to do about it.
    """
    with _reviewing(access, uuid, clock) as (receipt, unit):
        _check_in_force(receipt)
        if not _is_undoable(receipt):
            raise ConflictError("Both memories stand: there is nothing to revert.", code="nothing_to_revert")
        _check_still_the_last(receipt)
        moves = _moves_back(receipt)
        _check_twins(moves)
        answer = _answer(receipt, Origin.REVERT, ConflictOutcome.REVERTED, f"Reverted by {access.actor}.")
        _carry_out(unit, receipt, answer, moves, None, ReviewState.REVERTED)
        _let_stand_again(receipt, access.actor, unit.now)
    return answer


def conflict_override(*, access: Access, uuid: UUID, winner: Winner, clock: Clock = SYSTEM_CLOCK) -> Conflict:
    """Decide otherwise; gives the receipt of that, which can be reverted.

    Raises NotFoundError, or ConflictError as `conflict_revert` does, and when it stands as asked for already.
    """
    with _reviewing(access, uuid, clock) as (receipt, unit):
        _check_in_force(receipt)
        _check_can_be_overridden(receipt, winner)
        moves = _moves_for(receipt, winner, unit.now)
        _check_twins(moves)
        answer = _answer(receipt, Origin.OVERRIDE, OUTCOMES[winner], f"{access.actor} decided: {_said(winner)}")
        answer.winner = "" if winner is Winner.BOTH else winner.value
        result = {Winner.CANDIDATE: receipt.candidate, Winner.EXISTING: receipt.existing, Winner.BOTH: None}[winner]
        _carry_out(unit, receipt, answer, moves, result, ReviewState.OVERRIDDEN)
    return answer


@contextmanager
def _reviewing(access: Access, uuid: UUID, clock: Clock) -> Iterator[tuple[Conflict, UnitOfWork]]:
    """A receipt of the caller's, as it stands once no other writer of its user is at work."""
    with transaction.atomic():
        user = conflict_get(access, uuid).user_id
        versions = lock_shards([user])
        yield conflict_get(access, uuid), UnitOfWork(access.actor, utcnow(clock), versions)


def _check_in_force(receipt: Conflict) -> None:
    if receipt.is_in_force:
        return
    answer = receipt.answers.filter(state__in=(ReviewState.OPEN, ReviewState.ACCEPTED)).last()
    told = f" by {answer.uuid} at {answer.at.isoformat()}; revert that one to bring it back" if answer else ""
    raise ConflictError(f"This decision was {receipt.state}{told}.", code=f"already_{receipt.state}")


def _check_can_be_overridden(receipt: Conflict, winner: Winner) -> None:
    if receipt.origin == Origin.REVERT:
        detail = "This is the receipt of a revert: revert it, or override the decision that stands."
        raise ConflictError(detail, code="not_a_decision")
    if receipt.outcome == OUTCOMES[winner] or (receipt.outcome == ConflictOutcome.NOTICED and winner is Winner.BOTH):
        raise ConflictError(f"It was decided so already: {_said(winner)} Accept it instead.", code="decided_so")


def _said(winner: Winner) -> str:
    return "both memories stand." if winner is Winner.BOTH else f"the {winner.value} memory stands."


def _is_undoable(receipt: Conflict) -> bool:
    """Whether anything but the saving of the candidate was done."""
    return receipt.outcome not in {ConflictOutcome.NOTICED} and bool(receipt.transitions)


def _transitions(receipt: Conflict) -> list[Transition]:
    return [Transition.from_json(data) for data in receipt.transitions]


def _memories(transitions: Sequence[Transition]) -> dict[UUID, Memory]:
    wanted = {step.memory for step in transitions}
    wanted |= {step.before.superseded_by for step in transitions if step.before and step.before.superseded_by}
    rows = Memory.objects.filter(uuid__in=wanted).select_related("superseded_by")
    return {row.uuid: row for row in rows}


def _moves_back(receipt: Conflict, checked: Collection[UUID] = ()) -> list[_Move]:
    """What puts every row where it stood before. Raises ConflictError when one has moved on since.

    checked: memories that may be elsewhere, because a later decision that is undone as well has moved them.
    """
    transitions = _transitions(receipt)
    memories = _memories(transitions)
    problems, moves = [], []
    for step in transitions:
        memory = memories[step.memory]
        target = step.before or MemoryState(MemoryStatus.DELETED.value, state_of(memory).superseded_by)
        if step.memory in checked:
            moves.append(_Move(memory, target))
        elif state_of(memory).has_same_status(target) or (
            step.before is None and memory.status == MemoryStatus.DELETED
        ):
            continue
        elif state_of(memory).has_same_status(step.after):
            moves.append(_Move(memory, target))
        else:
            problems.append(_moved_on(memory, receipt))
    _raise_for(problems)
    return moves


def _moves_for(receipt: Conflict, winner: Winner, now: datetime) -> list[_Move]:
    """What lets the winner stand, from wherever the decision left its memories."""
    candidate, existing = receipt.candidate, receipt.existing
    moves: dict[UUID, _Move] = {}
    touched: set[UUID] = set()
    for decision in decisions_undone(receipt):
        moves |= {move.memory.uuid: move for move in _moves_back(decision, touched)}
        touched |= {step.memory for step in _transitions(decision)}
    _raise_for([_moved_on(one, receipt) for one in (candidate, existing) if not _is_where_left(one, touched)])
    for memory, other in ((candidate, existing), (existing, candidate)):
        loses = memory is (existing if winner is Winner.CANDIDATE else candidate) and winner is not Winner.BOTH
        target = MemoryState(MemoryStatus.SUPERSEDED.value, other.uuid, now) if loses else _active_since(memory, moves)
        moves[memory.uuid] = _Move(memory, target)
    if winner is Winner.CANDIDATE:
        moves |= _with_the_existing(receipt, moves, now)
    return [move for move in moves.values() if not state_of(move.memory).has_same_status(move.target)]


def decisions_undone(receipt: Conflict) -> Iterator[Conflict]:
    """A decision and those that it overrides, the latest first."""
    decision: Conflict | None = receipt
    while decision is not None:
        yield decision
        decision = decision.about if decision.origin == Origin.OVERRIDE else None


def _is_where_left(memory: Memory, touched: Collection[UUID]) -> bool:
    """Whether a memory may be decided about anew. Those that the decision moved were checked when it was undone."""
    return memory.status == MemoryStatus.ACTIVE or (memory.uuid in touched and memory.status != MemoryStatus.DELETED)


def _active_since(memory: Memory, moves: dict[UUID, _Move]) -> MemoryState:
    """Active, as it was before if it was."""
    back = moves.get(memory.uuid)
    if back is not None and back.target.status == MemoryStatus.ACTIVE:
        return back.target
    return MemoryState(MemoryStatus.ACTIVE.value)


def _with_the_existing(receipt: Conflict, moves: dict[UUID, _Move], now: datetime) -> dict[UUID, _Move]:
    """The further memories that the candidate won, which leave for it again."""
    leaving = {UUID(other["existing"]["id"]) for other in receipt.others if other["applied"]}
    target = MemoryState(MemoryStatus.SUPERSEDED.value, receipt.candidate.uuid, now)
    return {uuid: _Move(move.memory, target) for uuid, move in moves.items() if uuid in leaving}


def _moved_on(memory: Memory, receipt: Conflict) -> str:
    """What has become of a memory since a decision, and what to do about it."""
    step = memory.revisions.filter(at__gte=receipt.at, changes__has_key="status").exclude(conflict=receipt.uuid).last()
    if step is None:
        return f"The memory {memory.uuid} is {memory.status} now."
    told = f"The memory {memory.uuid} was {step.action} by {step.actor} at {step.at.isoformat()}"
    if step.conflict is not None:
        return f"{told} by the decision {step.conflict}: revert that one first."
    return f"{told}: restore it first."


def _raise_for(problems: Sequence[str]) -> None:
    if problems:
        raise ConflictError(" ".join(problems), code="changed_since")


def _check_twins(moves: Sequence[_Move]) -> None:
    """That none becomes active whose content another memory has by now."""
    leaving = {move.memory.pk for move in moves if move.target.status != MemoryStatus.ACTIVE}
    others = Memory.objects.active().exclude(pk__in=leaving)
    for memory in (move.memory for move in moves if move.target.status == MemoryStatus.ACTIVE):
        twin = others.duplicates_of(memory).exclude(pk=memory.pk).first()
        if twin is not None:
            detail = f"The content of {memory.uuid} was saved again since, as {twin.uuid}: delete that one first."
            raise ConflictError(detail, code="duplicate")


def _carry_out(
    unit: UnitOfWork,
    receipt: Conflict,
    answer: Conflict,
    moves: Sequence[_Move],
    result: Memory | None,
    state: ReviewState,
) -> None:
    """Move the memories, those that leave first: two of the same content are never active at once."""
    by = _memories([Transition(move.memory.uuid, move.target, move.target) for move in moves])
    transitions = []
    for move in sorted(moves, key=lambda move: move.target.status == MemoryStatus.ACTIVE):
        status, superseded_by = MemoryStatus(move.target.status), move.target.superseded_by
        since = move.target.status_changed_at
        if status == MemoryStatus.DELETED and since is None:  # deleted by this very step, not put back to where it was
            since = unit.now
        transitions.append(
            unit.move(
                move.memory,
                status,
                by[superseded_by] if superseded_by else None,
                action=ACTIONS[status],
                receipt=answer.uuid,
                since=since,
            )
        )
    answer.about_state = receipt.state
    complete_receipt(answer, actor=unit.actor, at=unit.now, result=result, transitions=transitions)
    unit.add_receipt(answer)
    unit.emit(decided_event(answer))
    unit.write()
    _review(receipt, state, unit.actor, unit.now)


def _answer(receipt: Conflict, origin: Origin, outcome: ConflictOutcome, reason: str) -> Conflict:
    """The receipt of a person's step, about another receipt."""
    return Conflict(
        **scope_columns(receipt.candidate),
        uuid=uuid4(),
        origin=origin,
        outcome=outcome,
        about=receipt,
        candidate=receipt.candidate,
        existing=receipt.existing,
        rule_name=receipt.rule_name,
        rule_version=receipt.rule_version,
        registry_version=receipt.registry_version,
        rule=receipt.rule,
        action="keep" if origin == Origin.OVERRIDE else "revert",
        strategy=str(origin),
        confidence=1.0,
        reason=reason,
        signals=receipt.signals,
        total_score=receipt.total_score,
        similarity=receipt.similarity,
        records=receipt.records,
        others=receipt.others,
    )


def _check_still_the_last(receipt: Conflict) -> None:
    """That what a revert brought back has not been decided about anew: undoing the revert would undo that unseen."""
    revert = receipt
    while revert.origin == Origin.REVERT and revert.about is not None and revert.about.about is not None:
        brought_back = revert.about.about
        if not brought_back.is_in_force:
            later = Conflict.objects.in_force().filter(about=brought_back).order_by("id").last()
            by = f"by the decision {later.uuid}: revert that one first." if later else "since."
            detail = f"The decision {brought_back.uuid}, which this one brought back, was decided about again {by}"
            raise ConflictError(detail, code="changed_since")
        revert = brought_back


def _let_stand_again(reverted: Conflict, actor: str, at: datetime) -> None:
    """What a reverted receipt was about is in force again, and so what that one is about is not."""
    again = reverted.about
    if again is None:
        return
    _review(again, ReviewState(reverted.about_state), actor, at)
    if again.about is not None and again.origin == Origin.OVERRIDE:
        _review(again.about, ReviewState.OVERRIDDEN, actor, at)
    elif again.about is not None:
        _review(again.about, ReviewState.REVERTED, actor, at)
        _let_stand_again(again.about, actor, at)


def _review(receipt: Conflict, state: ReviewState, actor: str, at: datetime) -> None:
    receipt.state, receipt.reviewed_by, receipt.reviewed_at = state, actor, at
    receipt.save(update_fields=["state", "reviewed_by", "reviewed_at"])
