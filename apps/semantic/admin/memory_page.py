"""The context of a memory's page: why it is as it is, its life, and its near neighbours."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.template.defaultfilters import truncatechars
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core.admin.kit import operator_access
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.pages.sayings import say
from apps.core.pages.texts import first_words
from apps.core.pages.times import ago, exact
from apps.semantic.conflicts.review import can_revert
from apps.semantic.memories.known import say_update
from apps.semantic.models import (
    BridgeAudit,
    Conflict,
    ConflictOutcome,
    Memory,
    MemoryRevision,
    MemoryStatus,
    RevisionAction,
)
from apps.semantic.search.in_force import memory_successors
from apps.semantic.selectors import last_removals, memories_near

NEAR = 5
# Steps of a life that are shown, the last ones.
STEPS = 30
# Changes that the name of a step says already.
IN_THE_TITLE = frozenset({"status", "superseded_by", "status_changed_at"})
HEIR_CHARS, CHANGE_CHARS = 160, 120
VERBS = {
    MemoryStatus.SUPERSEDED: _("Superseded"),
    MemoryStatus.MERGED: _("Merged"),
    MemoryStatus.REJECTED: _("Rejected"),
    MemoryStatus.DELETED: _("Deleted"),
}


@dataclass(frozen=True)
class Step:
    """A step in the life of a memory. link: of the decision or record that it is part of; empty for none."""

    at: datetime
    title: str
    note: str
    link: str = ""


def memory_context(request: HttpRequest, memory: Memory) -> dict[str, Any]:
    """Return what the page shows above the technical details."""
    access = operator_access(request)
    shows_decisions = request.user.has_perm("semantic.view_conflict")
    receipts = Conflict.objects.visible_to(access)
    removal = last_removals(access, [memory.pk]).get(memory.pk) if memory.status != MemoryStatus.ACTIVE else None
    receipt = receipts.filter(uuid=removal.conflict).first() if removal and removal.conflict else None
    heir = memory.superseded_by or next(iter(memory_successors(access, memory)), None)
    return {
        "title": first_words(memory.content),
        "reason": say_reason(memory, removal, receipt if shows_decisions else None),
        "heir": first_words(heir.content, HEIR_CHARS) if heir else "",
        "heir_url": reverse("admin:semantic_memory_change", args=[heir.pk]) if heir else "",
        "receipt_url": decision_url(receipt.pk) if receipt and shows_decisions else "",
        "may_undo": may_undo(request, memory, receipt),
        "life": life_of(memory, shows_decisions=shows_decisions),
        "near": [
            {
                "words": first_words(one.content, HEIR_CHARS),
                "url": reverse("admin:semantic_memory_change", args=[one.pk]),
                "similarity": f"{similarity:.2f}",
            }
            for one, similarity in memories_near(access, memory, NEAR)
        ],
    }


def decision_url(key: int | UUID | None) -> str:
    """Return the page of a decision, by its number or its id; empty for none."""
    return "" if key is None else reverse("admin:semantic_conflict_change", args=[key])


def say_reason(memory: Memory, removal: MemoryRevision | None, receipt: Conflict | None) -> str:
    """Say why a memory is as it is; of one that another one replaced, up to where that one is named."""
    now = utcnow(SYSTEM_CLOCK)
    if memory.status == MemoryStatus.ACTIVE:
        if memory.has_expired(now):
            words = gettext("Active, but no search has found it since it expired at %(at)s.")
            return words % {"at": exact(memory.expires_at)}  # type: ignore[arg-type]
        if not memory.is_in_force:
            return gettext("Not in force: searches find it below what is in force.")
        words = gettext("Active: searches find it, with a confidence of %(share)s.")
        return words % {"share": f"{memory.confidence_at(now):.2f}"}
    since = memory.status_changed_at or (removal.at if removal else None)
    said = str(VERBS[MemoryStatus(memory.status)])
    if since is not None:
        said = gettext("%(what)s %(ago)s") % {"what": said, "ago": ago(since, now)}
    if removal is not None:
        said = gettext("%(what)s by %(actor)s") % {"what": said, "actor": name_of(removal.actor)}
    if receipt is None:
        return gettext("%(what)s.") % {"what": said}
    words = gettext("%(what)s: %(strategy)s, confidence %(share)s.")
    if receipt.rule_name:
        words = gettext("%(what)s: %(strategy)s, rule %(rule)s, confidence %(share)s.")
    return words % {
        "what": said,
        "strategy": say(receipt.strategy),
        "rule": receipt.rule_name,
        "share": f"{receipt.confidence:.2f}",
    }


def may_undo(request: HttpRequest, memory: Memory, receipt: Conflict | None) -> bool:
    """Return whether a viewer may bring a memory back: by restoring it, or by reverting the decision that took it."""
    if memory.status == MemoryStatus.ACTIVE or memory.managed_by:
        return False
    if receipt is None:
        return memory.status == MemoryStatus.DELETED and request.user.has_perm("semantic.change_memory")
    return receipt.is_in_force and can_revert(receipt) and request.user.has_perm("semantic.change_conflict")


def life_of(memory: Memory, *, shows_decisions: bool) -> list[Step]:
    """Return the last steps of a memory's life, the first one first: saved, changed, decided about, pruned."""
    revisions = list(memory.revisions.order_by("-id")[:STEPS])
    steps = [Step(one.at, title_of(one), say_changes(one), decision_url(one.conflict)) for one in revisions]
    if not shows_decisions:
        steps = [replace(step, link="") for step in steps]
    else:
        noticed = Conflict.objects.filter(outcome=ConflictOutcome.NOTICED)
        for side in ("candidate", "existing"):
            for receipt in noticed.filter(**{side: memory}).order_by("-id")[:STEPS]:
                words = gettext("A possible conflict was noticed, %(state)s")
                words %= {"state": receipt.get_state_display().lower()}
                steps.append(Step(receipt.at, words, say(receipt.reason), decision_url(receipt.pk)))
    for record in BridgeAudit.objects.filter(memory=memory.uuid).order_by("-id")[:STEPS]:
        note = gettext("%(count)s of its events were pruned by %(actor)s")
        note %= {"count": f"{len(record.event_ids):,}", "actor": record.actor}
        steps.append(Step(record.at, record.get_action_display(), note))
    return sorted(steps, key=lambda step: step.at)[-STEPS:]


def title_of(revision: MemoryRevision) -> str:
    """Return what a step did, and who took it; of a change what was changed."""
    if revision.action == RevisionAction.UPDATED:
        return say_update(revision.changes, name_of(revision.actor))
    done = gettext("Saved") if revision.action == RevisionAction.CREATED else revision.get_action_display()
    return gettext("%(what)s by %(actor)s") % {"what": done, "actor": name_of(revision.actor)}


def name_of(actor: str) -> str:
    """Return the name in an actor: of a person, key or operator, without the word for which of them it is."""
    kind, _colon, name = actor.partition(":")
    return name if name and kind in {"person", "key", "admin"} else actor


def say_changes(revision: MemoryRevision) -> str:
    """Return the reason of a step, and what it changed, in short."""
    changes = [
        f"{name}: {' → '.join(truncatechars('-' if value is None else str(value), CHANGE_CHARS) for value in values)}"
        for name, values in revision.changes.items()
        if name not in IN_THE_TITLE
    ]
    reason = "" if revision.action == RevisionAction.CREATED else say(revision.reason.replace("_", " "))
    return "; ".join(filter(None, (reason, *changes)))
