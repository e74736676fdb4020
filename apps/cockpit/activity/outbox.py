"""Hub events as entries of the stream, their codes in words."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.cockpit.domain.activity import Entry
from apps.core.pages.lists import listed
from apps.core.words import Words
from apps.episodic.events import EventSaved, EventsPruned, TimelineHealthy, TimelineWarned
from apps.llm.events import BreakerChanged, BudgetThresholdReached
from apps.llm.selectors import REASONS
from apps.rules.events import RuleDeleted, RuleRegistered, RuleUpdated
from apps.semantic.events import (
    ConflictDecided,
    IndexHealthChanged,
    MemoriesPurged,
    MemoryDeleted,
    MemoryReinforced,
    MemoryRestored,
    MemorySaved,
)
from apps.sync.events import ConflictFound, SyncFailed, SyncFinished

# Codes of hub events and calls in words. In English each is its code without underscores.
CODES: dict[str, Words] = {
    **REASONS,
    # What was decided about two memories.
    "superseded_existing": _("superseded existing"),
    "kept_existing": _("kept existing"),
    "merged": _("merged"),
    "rejected": _("rejected"),
    "noticed": _("noticed"),
    "kept_both": _("kept both"),
    "reverted": _("reverted"),
    # Warnings of the timeline, and why events were removed.
    "write_latency": _("write latency"),
    "segment_damaged": _("segment damaged"),
    "disk_nearly_full": _("disk nearly full"),
    "capacity": _("capacity"),
    "maintenance_failed": _("maintenance failed"),
    "retention": _("retention"),
    "manual": _("manual"),
    "repair": _("repair"),
    # Levels of the index, and why.
    "ok": _("ok"),
    "warning": _("warning"),
    "degraded": _("degraded"),
    "backlog": _("backlog"),
    "evictions": _("evictions"),
    # Pointers and their items.
    "hash_mismatch": _("hash mismatch"),
    "orphaned_pointer": _("orphaned pointer"),
    "duplicate_pointer": _("duplicate pointer"),
    "status_change": _("status change"),
    "layer_mismatch": _("layer mismatch"),
    # Why a sync did not do all that was asked.
    "KNOWLEDGE_UNAVAILABLE": _("KNOWLEDGE UNAVAILABLE"),
    "STATE_CORRUPTED": _("STATE CORRUPTED"),
    "PARTIAL_FAILURE": _("PARTIAL FAILURE"),
    "commit_gone": _("commit gone"),
}


Payload = Mapping[str, Any]
# What an entry has besides time, source, position and kind.
Parts = dict[str, Any]
# What is read of a payload: never contents and documents of rules.
FIELDS = (
    "actor", "user_id", "memory_id", "conflict_id", "event_id", "action", "outcome", "rule_name", "reason", "kind",
    "severity", "count", "level", "phase", "provider", "threshold", "state", "added", "updated", "deleted", "code",
    "source_id", "run_id", "type", "segment_id",
)  # fmt: skip
WARNING_TONES = {"notice": "info", "warning": "warn", "critical": "bad"}


def memory(verb: str, tone: str = "") -> Callable[[Payload], Parts]:
    """Return how an event about one memory is read."""
    return lambda payload: {"verb": verb, "subject": payload["memory_id"], "tone": tone}


def saved(payload: Payload) -> Parts:
    """Read that a memory was saved."""
    verb = "saved" if payload["action"] == "inserted" else "improved"
    return {"verb": verb, "subject": payload["memory_id"]}


def decided(payload: Payload) -> Parts:
    """Read what was decided about two memories."""
    outcome = words_of(payload["outcome"])
    return {"verb": "decided", "subject": payload["conflict_id"], "words": outcome}


def warned(payload: Payload) -> Parts:
    """Read a warning of the timeline."""
    tone = WARNING_TONES.get(str(payload["severity"]), "warn")
    return {"verb": "warned", "words": said(gettext("timeline, %(what)s"), payload["kind"]), "tone": tone}


def recovered(payload: Payload) -> Parts:
    """Read that a warning of the timeline is over."""
    return {"verb": "recovered", "words": said(gettext("timeline, %(what)s"), payload["kind"]), "tone": "good"}


def index_changed(payload: Payload) -> Parts:
    """Read that the index of a process has another level."""
    tone = {"ok": "good", "warning": "warn"}.get(str(payload["level"]), "bad")
    verb = "recovered" if tone == "good" else "warned"
    return {"verb": verb, "words": said(gettext("index, %(what)s"), payload["level"]), "tone": tone}


def pruned(payload: Payload) -> Parts:
    """Read that events were removed."""
    return {"verb": "pruned", "words": words_of(payload["reason"])}


def rule(done: Words) -> Callable[[Payload], Parts]:
    """Return how a change of a rule is read. done: what was done, with the `name` of the rule."""

    def read(payload: Payload) -> Parts:
        name = payload["rule_name"]
        return {"verb": "rule", "words": done % {"name": name}, "subject": name}

    return read


def breaker(payload: Payload) -> Parts:
    """Read that a breaker has another phase."""
    tone = "good" if payload["phase"] == "closed" else "bad"
    named = {"provider": payload["provider"], "phase": words_of(payload["phase"])}
    words = gettext("breaker of %(provider)s, %(phase)s") % named
    return {"verb": "warned", "words": words, "tone": tone}


def budget(payload: Payload) -> Parts:
    """Read that spending has reached a share of the budget."""
    tone = "bad" if payload["threshold"] == "100" else "warn"
    return {
        "verb": "warned",
        "words": gettext("%(share)s%% of the budget is spent") % {"share": payload["threshold"]},
        "tone": tone,
    }


def finished(payload: Payload) -> Parts:
    """Read what a sync has written."""
    changes = {
        "added": gettext("%(count)s added"),
        "updated": gettext("%(count)s updated"),
        "deleted": gettext("%(count)s deleted"),
    }
    said = [words % {"count": payload[name]} for name, words in changes.items() if payload[name] != "0"]
    counts = listed(said) or gettext("no change")
    tone = "" if payload["state"] == "complete" else "warn"
    return {
        "verb": "synced",
        "words": gettext("synced knowledge: %(changes)s") % {"changes": counts},
        "tone": tone,
        "subject": payload["run_id"],
    }


def sync_failed(payload: Payload) -> Parts:
    """Read that a sync has failed."""
    return {
        "verb": "synced",
        "words": said(gettext("could not sync knowledge: %(what)s"), payload["code"]),
        "tone": "bad",
        "subject": payload["run_id"],
    }


def sync_conflict(payload: Payload) -> Parts:
    """Read that a pointer and its item differ."""
    words = said(gettext("found a pointer conflict: %(what)s"), payload["type"])
    return {"verb": "synced", "words": words, "tone": "warn"}


def said(sentence: str, code: object) -> str:
    """Return a sentence about `what` a code says."""
    return sentence % {"what": words_of(code)}


def words_of(code: object) -> str:
    """Return a code as words, in the language of the viewer where it is known."""
    text = str(code or "")
    return str(CODES[text]) if text in CODES else text.replace("_", " ")


# Name of the event -> kind of the entry, and how its payload is read.
READERS: dict[str, tuple[str, Callable[[Payload], Parts]]] = {
    MemorySaved.name: ("memories", saved),
    MemoryReinforced.name: ("memories", memory("reinforced")),
    MemoryDeleted.name: ("memories", memory("deleted", "warn")),
    MemoryRestored.name: ("memories", memory("restored")),
    MemoriesPurged.name: (
        "memories",
        lambda payload: {"verb": "purged", "amount": int(payload["count"] or 1), "tone": "bad"},
    ),
    ConflictDecided.name: ("decisions", decided),
    EventSaved.name: ("timeline", lambda payload: {"verb": "recorded", "subject": payload["event_id"]}),
    EventsPruned.name: ("timeline", pruned),
    TimelineWarned.name: ("warnings", warned),
    TimelineHealthy.name: ("warnings", recovered),
    IndexHealthChanged.name: ("warnings", index_changed),
    RuleRegistered.name: ("rules", rule(_("added the rule %(name)s"))),
    RuleUpdated.name: ("rules", rule(_("changed the rule %(name)s"))),
    RuleDeleted.name: ("rules", rule(_("deleted the rule %(name)s"))),
    BreakerChanged.name: ("models", breaker),
    BudgetThresholdReached.name: ("models", budget),
    SyncFinished.name: ("knowledge", finished),
    SyncFailed.name: ("knowledge", sync_failed),
    ConflictFound.name: ("knowledge", sync_conflict),
}


def names_of(kinds: frozenset[str]) -> list[str]:
    """Return the names of the events that make entries of these kinds."""
    return [name for name, (kind, _) in READERS.items() if kind in kinds]


def entry_of(row: Mapping[str, Any]) -> Entry:
    """Return the entry of an event. row: id, name, created_at and the FIELDS of its payload."""
    payload = {name: row[f"p_{name}"] for name in FIELDS}
    kind, read = READERS[row["name"]]
    return Entry(
        at=row["created_at"],
        source="outbox",
        position=row["id"],
        kind=kind,
        actor=payload["actor"] or "",
        person=payload["user_id"] or "",
        **read(payload),
    )
