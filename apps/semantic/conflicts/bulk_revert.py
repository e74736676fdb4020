"""Reverting many decisions of a rule at once: all of one version of it, or all of a span of time (DESIGN D3).

Only what rules decided is in such a selection. What a person decided stays, and so do receipts of reverts: else doing
the same again would undo the undoing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.errors import InvalidInputError, MemoryHubError
from apps.core.domain.scope import IDENTIFIERS, Access, Scope
from apps.semantic.conflicts.review import conflict_revert
from apps.semantic.models import Conflict, ConflictOutcome, Origin, ReviewState
from apps.semantic.querysets import ConflictQuerySet

# Of one call. A revert takes some milliseconds, and a background task must end in time.
MAX_REVERTS = 500
EVERYBODY = Scope()
_MOMENTS = ("since", "until")


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which decisions: all that are named by each of the given values.

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
            raise InvalidInputError("Name a rule, or a span of time.", attr="rule_name", code="required")
        if self.rule_version is not None and not self.rule_name:
            raise InvalidInputError("A version needs the name of its rule.", attr="rule_name", code="required")
        if self.since and self.until and self.since >= self.until:
            raise InvalidInputError("The span must end after it begins.", attr="until")

    def as_json(self) -> dict[str, Any]:
        """Plain values, for the payload of a task; what is not set is left out."""
        data = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "scope"}
        data |= {name: data[name] and data[name].isoformat() for name in _MOMENTS}
        return {name: value for name, value in {**data, **self.scope.named()}.items() if value not in (None, "")}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Selection":
        """What `as_json` gave."""
        moments: dict[str, Any] = {name: datetime.fromisoformat(data[name]) for name in _MOMENTS if name in data}
        scope = Scope(**{name: data[name] for name in IDENTIFIERS if name in data})
        plain = {name: value for name, value in data.items() if name not in (*_MOMENTS, *IDENTIFIERS)}
        return cls(scope=scope, **moments, **plain)


@dataclass(frozen=True)
class RevertRefusal:
    """A decision that could not be reverted, and why not."""

    uuid: UUID
    reason: str


@dataclass(frozen=True)
class RevertReport:
    """What came of a part of a selection. below: the `id` below which it goes on; None at its end."""

    reverted: int
    refused: tuple[RevertRefusal, ...]
    below: int | None


def decisions_in(access: Access, selection: Selection) -> ConflictQuerySet:
    """The decisions of a selection that are in force and changed something."""
    found = Conflict.objects.visible_to(access, selection.scope).in_force().filter(**_lookups(selection))
    if not selection.with_accepted:
        found = found.filter(state=ReviewState.OPEN)
    return found.filter(origin__in=(Origin.SAVE, Origin.CONSOLIDATION)).exclude(outcome=ConflictOutcome.NOTICED)


def conflicts_revert(
    *,
    access: Access,
    selection: Selection,
    below: int | None = None,
    limit: int | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> RevertReport:
    """Revert the decisions of a selection, each in a transaction of its own; says what came of each.

    The newest first, so that a chain of decisions about the same memories unwinds. below: go on where the call before
    ended. limit: at most so many, MAX_REVERTS if not given.
    """
    most = limit or MAX_REVERTS
    left = decisions_in(access, selection) if below is None else decisions_in(access, selection).filter(id__lt=below)
    chosen = list(left.newest_first().values_list("id", "uuid")[:most])
    refused = [refusal for _, uuid in chosen if (refusal := _reverted(access, uuid, clock))]
    more = len(chosen) == most
    return RevertReport(len(chosen) - len(refused), tuple(refused), chosen[-1][0] if more else None)


def _reverted(access: Access, uuid: UUID, clock: Clock) -> RevertRefusal | None:
    try:
        conflict_revert(access=access, uuid=uuid, clock=clock)
    except MemoryHubError as error:
        return RevertRefusal(uuid, error.detail)
    return None


def _lookups(selection: Selection) -> dict[str, Any]:
    asked = {
        "rule_name": selection.rule_name or None,
        "rule_version": selection.rule_version,
        "at__gte": selection.since,
        "at__lt": selection.until,
        "id__lte": selection.last,
    }
    return {name: value for name, value in asked.items() if value is not None}
