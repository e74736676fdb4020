"""Decide which events of the timeline become memories, and what happens to a memory when its events are pruned.

Spec 000 "Episodic-Semantic Event Bridge". Pure: the modules of `bridge` apply what is decided here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

# The share of its importance and confidence that a memory keeps when its events are pruned.
DEMOTION = 0.5
# The author of what the bridge does.
BRIDGE_ACTOR = "bridge"


class OnPrune(StrEnum):
    """What happens to a memory when the last of its events is pruned."""

    DEMOTE = "demote"
    DELETE = "delete"
    KEEP = "keep"


@dataclass(frozen=True)
class EventFacts:
    """What policies judge. household_id: the empty string for none."""

    household_id: str
    event_type: str
    importance: float


@dataclass(frozen=True, kw_only=True)
class RoutingCriteria:
    """Which events become memories. household_id: the empty string for every household without policies of its own.

    min_importance: the lowest one accepted. event_types: none for all. Of several policies that want an event the one
    with the highest priority applies, then the first by name.
    """

    name: str
    household_id: str = ""
    is_enabled: bool = True
    priority: int = 0
    min_importance: float = 0.0
    event_types: frozenset[str] = frozenset()

    def has_type(self, event: EventFacts) -> bool:
        """Return whether the policy is about events of this type."""
        return not self.event_types or event.event_type in self.event_types

    def wants(self, event: EventFacts) -> bool:
        """Return whether an event is to become a memory."""
        return self.has_type(event) and event.importance >= self.min_importance


class RoutingJudgement(StrEnum):
    """The judgement of an event: a policy wants it, or why none does."""

    ROUTED = "routed"
    NO_POLICY = "no_policy"
    OTHER_TYPE = "other_type"
    UNIMPORTANT = "unimportant"


@dataclass(frozen=True)
class RoutingDecision:
    """A judgement, and the policy that wants the event."""

    judgement: RoutingJudgement
    policy: RoutingCriteria | None = None


class RoutingTable:
    """All policies at one moment.

    A household with policies of its own is judged by those only, even if all are disabled: so one household can be left
    out, or be routed otherwise, whatever the global ones say.
    """

    def __init__(self, policies: Iterable[RoutingCriteria]) -> None:
        self._by_household: dict[str, list[RoutingCriteria]] = {"": []}
        for policy in sorted(policies, key=lambda one: (-one.priority, one.name)):
            own = self._by_household.setdefault(policy.household_id, [])
            if policy.is_enabled:
                own.append(policy)

    def judge(self, event: EventFacts) -> RoutingDecision:
        """Decide whether an event becomes a memory, and by which policy."""
        policies = self._by_household.get(event.household_id, self._by_household[""])
        for policy in policies:
            if policy.wants(event):
                return RoutingDecision(RoutingJudgement.ROUTED, policy)
        if not policies:
            return RoutingDecision(RoutingJudgement.NO_POLICY)
        listed = any(policy.has_type(event) for policy in policies)
        return RoutingDecision(RoutingJudgement.UNIMPORTANT if listed else RoutingJudgement.OTHER_TYPE)


class Remedy(StrEnum):
    """What is done about a memory whose events were pruned. separate: undo a merge that it went into, then delete."""

    DEMOTE = "demote"
    DELETE = "delete"
    SEPARATE = "separate"
    KEEP = "keep"


class RemedyReason(StrEnum):
    """Why a memory is treated so."""

    POLICY = "policy"
    OTHER_EVENTS = "other_events"
    WAS_THERE_BEFORE = "was_there_before"
    SAVED_BY_OTHERS = "saved_by_others"
    NOT_STANDING = "not_standing"
    IS_DELETED = "is_deleted"


@dataclass(frozen=True, kw_only=True)
class LinkedMemory:
    """A memory that pruned events are linked to.

    status: as `MemoryStatus`. came_from_events: it did not exist before its first event. has_other_events: another
    event that it is linked to still exists. saved_by_others: another writer has saved the same since, or reinforced it.
    """

    status: str
    came_from_events: bool
    has_other_events: bool
    saved_by_others: bool


def remedy(on_prune: OnPrune, memory: LinkedMemory) -> tuple[Remedy, RemedyReason]:
    """Return what pruning its events does to a memory, and why (spec 000, Pruned event reconciliation)."""
    if memory.has_other_events:
        return Remedy.KEEP, RemedyReason.OTHER_EVENTS
    if not memory.came_from_events:
        return Remedy.KEEP, RemedyReason.WAS_THERE_BEFORE
    if memory.saved_by_others:
        return Remedy.KEEP, RemedyReason.SAVED_BY_OTHERS
    if memory.status == "deleted":
        return Remedy.KEEP, RemedyReason.IS_DELETED
    if on_prune is OnPrune.KEEP:
        return Remedy.KEEP, RemedyReason.POLICY
    if on_prune is OnPrune.DELETE:
        return (Remedy.SEPARATE if memory.status == "merged" else Remedy.DELETE), RemedyReason.POLICY
    if memory.status != "active":  # no search finds it: there is nothing to demote
        return Remedy.KEEP, RemedyReason.NOT_STANDING
    return Remedy.DEMOTE, RemedyReason.POLICY


def strictest(choices: Iterable[OnPrune]) -> OnPrune:
    """Return the strictest of what several policies say about one memory: delete before demote before keep."""
    order = (OnPrune.DELETE, OnPrune.DEMOTE, OnPrune.KEEP)
    return min(choices, key=order.index)


def demoted(importance: float, confidence: float) -> Mapping[str, float]:
    """Return the fields of a demoted memory: without its evidence, it counts half of what it did."""
    return {"importance": importance * DEMOTION, "base_confidence": confidence * DEMOTION}
