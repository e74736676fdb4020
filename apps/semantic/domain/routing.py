"""Which events of the timeline become memories, and what becomes of those when the events are gone.

Spec 000 "Episodic-Semantic Event Bridge". Pure: `bridge_*` modules apply what is decided here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

# What a memory whose events are gone keeps of its importance and of its confidence.
DEMOTION = 0.5


class OnPrune(StrEnum):
    """What becomes of a memory when the last of its events is pruned."""

    DEMOTE = "demote"
    DELETE = "delete"
    KEEP = "keep"


@dataclass(frozen=True)
class EventFacts:
    """What policies look at. household_id: the empty string for none."""

    household_id: str
    event_type: str
    importance: float


@dataclass(frozen=True, kw_only=True)
class RoutingCriteria:
    """Which events become memories. household_id: the empty string for every household without policies of its own.

    min_importance: the lowest that will do. event_types: none for all. Of several that want an event the one with the
    highest priority counts, then the first by name.
    """

    name: str
    household_id: str = ""
    is_enabled: bool = True
    priority: int = 0
    min_importance: float = 0.0
    event_types: frozenset[str] = frozenset()

    def lists(self, event: EventFacts) -> bool:
        """Whether events of this type are meant."""
        return not self.event_types or event.event_type in self.event_types

    def wants(self, event: EventFacts) -> bool:
        """Whether an event is to become a memory."""
        return self.lists(event) and event.importance >= self.min_importance


class RoutingJudgement(StrEnum):
    """What came of judging an event: a policy wants it, or why none does."""

    ROUTED = "routed"
    NO_POLICY = "no_policy"
    OTHER_TYPE = "other_type"
    UNIMPORTANT = "unimportant"


@dataclass(frozen=True)
class RoutingDecision:
    """A judgement, and the policy that it is owed to."""

    judgement: RoutingJudgement
    policy: RoutingCriteria | None = None


class RoutingTable:
    """All policies at one moment.

    A household with policies of its own is judged by those only, were they all switched off: so one household can be
    left out, or be routed otherwise, whatever the global ones say.
    """

    def __init__(self, policies: Iterable[RoutingCriteria]) -> None:
        self._by_household: dict[str, list[RoutingCriteria]] = {"": []}
        for policy in sorted(policies, key=lambda one: (-one.priority, one.name)):
            own = self._by_household.setdefault(policy.household_id, [])
            if policy.is_enabled:
                own.append(policy)

    def judge(self, event: EventFacts) -> RoutingDecision:
        """Whether an event becomes a memory, and by which policy."""
        policies = self._by_household.get(event.household_id, self._by_household[""])
        for policy in policies:
            if policy.wants(event):
                return RoutingDecision(RoutingJudgement.ROUTED, policy)
        if not policies:
            return RoutingDecision(RoutingJudgement.NO_POLICY)
        listed = any(policy.lists(event) for policy in policies)
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

    status: as `MemoryStatus`. came_from_events: it was not there before its first event. has_other_events: another
    event that it is linked to is still there. saved_by_others: somebody else has said the same since.
    """

    status: str
    came_from_events: bool
    has_other_events: bool
    saved_by_others: bool


def remedy(on_prune: OnPrune, memory: LinkedMemory) -> tuple[Remedy, RemedyReason]:
    """What pruning its events does to a memory, and why (spec 000, Pruned event reconciliation)."""
    if memory.has_other_events:
        return Remedy.KEEP, RemedyReason.OTHER_EVENTS
    if not memory.came_from_events:
        return Remedy.KEEP, RemedyReason.WAS_THERE_BEFORE
    if memory.saved_by_others:
        return Remedy.KEEP, RemedyReason.SAVED_BY_OTHERS
    if memory.status == "deleted":
        return Remedy.KEEP, RemedyReason.IS_DELETED
    return _by_policy(on_prune, memory.status)


def _by_policy(on_prune: OnPrune, status: str) -> tuple[Remedy, RemedyReason]:
    if on_prune is OnPrune.KEEP:
        return Remedy.KEEP, RemedyReason.POLICY
    if on_prune is OnPrune.DELETE:
        return (Remedy.SEPARATE if status == "merged" else Remedy.DELETE), RemedyReason.POLICY
    # What has lost is found by no search: it has nothing that could be taken away.
    return (Remedy.DEMOTE, RemedyReason.POLICY) if status == "active" else (Remedy.KEEP, RemedyReason.NOT_STANDING)


def strictest(choices: Iterable[OnPrune]) -> OnPrune:
    """Of what several policies say about one memory: delete before demote before keep."""
    order = (OnPrune.DELETE, OnPrune.DEMOTE, OnPrune.KEEP)
    return min(choices, key=order.index)


def demoted(importance: float, confidence: float) -> Mapping[str, float]:
    """The fields of a demoted memory: nothing vouches for it any more, so it counts half of what it did."""
    return {"importance": importance * DEMOTION, "base_confidence": confidence * DEMOTION}
