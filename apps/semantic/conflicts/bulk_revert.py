"""Revert many decisions of a rule at once: all of one version of it, or all of a span of time (DESIGN D3).

Only what rules decided is in such a selection. What a person decided is kept, and so are receipts of reverts: else
doing the same again would undo the undoing. More than a request has time for is done in the background, batch by batch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.errors import InvalidInputError, MemoryHubError
from apps.core.domain.scope import IDENTIFIERS, Access, Scope, system_access
from apps.core.jobs import BackgroundJob
from apps.semantic.conflicts.review import conflict_revert
from apps.semantic.models import BY_RULES, Conflict, ConflictOutcome, ReviewState
from apps.semantic.querysets import ConflictQuerySet

# Of one call. A revert takes some milliseconds, and a background task must end in time.
MAX_REVERTS = 500
EVERYBODY = Scope()
_DATES = ("since", "until")

TASK = "apps.semantic.tasks.revert_conflicts"
TASK_NAME = "semantic.revert_conflicts"
# Of one task: enough to explain, and small enough for a row of results.
KEPT_REASONS = 50
JOB = BackgroundJob(TASK, "revert")


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which decisions: those that match each of the values.

    rule_name, rule_version: whose decisions; no version: of every one. since, until: decided from then on, and before
    then. with_accepted: also those that a person has accepted. last: the receipt with the highest `id` that is meant,
    so that what is decided afterwards is left alone. Raises InvalidInputError where neither a rule nor a time is named.
    """

    rule_name: str = ""
    rule_version: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    scope: Scope = EVERYBODY
    with_accepted: bool = True
    last: int | None = None

    def __post_init__(self) -> None:
        if not (self.rule_name or self.since or self.until):
            raise InvalidInputError("Choose a rule or a time range.", attr="rule_name", code="required")
        if self.rule_version is not None and not self.rule_name:
            raise InvalidInputError("A version needs the name of its rule.", attr="rule_name", code="required")
        if self.since and self.until and self.since >= self.until:
            raise InvalidInputError("The time range must end after it starts.", attr="until")

    def as_json(self) -> dict[str, Any]:
        """Return plain values, for the payload of a task; what is not set is left out."""
        data = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "scope"}
        data |= {name: data[name] and data[name].isoformat() for name in _DATES}
        return {name: value for name, value in {**data, **self.scope.named()}.items() if value not in (None, "")}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Selection":
        """Return the selection that `as_json` was called on."""
        dates: dict[str, Any] = {name: datetime.fromisoformat(data[name]) for name in _DATES if name in data}
        scope = Scope(*(data.get(name) for name in IDENTIFIERS))
        plain = {name: value for name, value in data.items() if name not in (*_DATES, *IDENTIFIERS)}
        return cls(scope=scope, **dates, **plain)


@dataclass(frozen=True)
class RevertReport:
    """What was done about a part of a selection. below: the `id` below which the next part begins; None at its end.

    refused: the decisions that could not be reverted, and why not.
    """

    reverted: int
    refused: tuple[tuple[UUID, str], ...]
    below: int | None


@dataclass(frozen=True)
class RevertStatus:
    """How far a run is. refused: of how many; reasons: of the first ones, by the id of their receipts."""

    reverted: int = 0
    refused: int = 0
    reasons: tuple[tuple[str, str], ...] = ()
    finished: bool = False
    failed: bool = False


def decisions_in(access: Access, selection: Selection) -> ConflictQuerySet:
    """Return the decisions of a selection that are in force and changed or settled something."""
    wanted = {
        "rule_name": selection.rule_name or None,
        "rule_version": selection.rule_version,
        "at__gte": selection.since,
        "at__lt": selection.until,
        "id__lte": selection.last,
        "state": None if selection.with_accepted else ReviewState.OPEN,
    }
    found = Conflict.objects.visible_to(access, selection.scope).in_force()
    found = found.filter(**{name: value for name, value in wanted.items() if value is not None})
    return found.filter(origin__in=BY_RULES).exclude(outcome=ConflictOutcome.NOTICED)


def conflicts_revert(
    *,
    access: Access,
    selection: Selection,
    below: int | None = None,
    limit: int | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> RevertReport:
    """Revert the decisions of a selection, each in a transaction of its own.

    The newest first, so that a chain of decisions about the same memories unwinds. below: continue where the call
    before ended. limit: at most so many, MAX_REVERTS by default.
    """
    most = limit or MAX_REVERTS
    left = decisions_in(access, selection) if below is None else decisions_in(access, selection).filter(id__lt=below)
    chosen = list(left.newest_first().values_list("id", "uuid")[:most])
    refused = []
    for _, uuid in chosen:
        try:
            conflict_revert(access=access, uuid=uuid, clock=clock)
        except MemoryHubError as error:
            refused.append((uuid, error.detail))
    return RevertReport(len(chosen) - len(refused), tuple(refused), chosen[-1][0] if len(chosen) == most else None)


def enqueue_revert(*, selection: Selection, actor: str) -> UUID:
    """Have a selection reverted in the background. Return the run, by which `run_status` finds it."""
    return JOB.start(task_name=TASK_NAME, selection=selection.as_json(), actor=actor, below=None)


def revert_part(*, selection: Mapping[str, Any], actor: str, run: str, below: int | None) -> dict[str, Any]:
    """Revert one batch of a run, and enqueue the next one if there are more. Repeating a batch does no harm."""
    done = conflicts_revert(access=system_access(actor), selection=Selection.from_json(selection), below=below)
    if done.below is not None:
        JOB.enqueue(run=run, task_name=TASK_NAME, selection=dict(selection), actor=actor, below=done.below)
    return {
        "reverted": done.reverted,
        "refused": len(done.refused),
        "reasons": [(str(uuid), reason) for uuid, reason in done.refused[:KEPT_REASONS]],
        "finished": done.below is None,
    }


def run_status(run: UUID) -> RevertStatus:
    """Return the outcome of the batches of a run that are done."""
    ended = JOB.results(run)
    reasons = [(uuid, reason) for result in ended.results for uuid, reason in result["reasons"]]
    return RevertStatus(
        reverted=sum(result["reverted"] for result in ended.results),
        refused=sum(result["refused"] for result in ended.results),
        reasons=tuple(reasons[:KEPT_REASONS]),
        finished=ended.finished,
        failed=ended.failed,
    )
