"""What each store of the hub keeps of a person, in words."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# In the order in which people want to know.
STORES: dict[str, str | Promise] = {
    "memories": _("Memories, with their history"),
    "memory_uses": _("Which apps used your memories"),
    "events": _("Things that happened"),
    "notes": _("Notes and their versions"),
    "conversations": _("Conversations, messages and what was learnt in them"),
    "receipts": _("Decisions between memories"),
    "knowledge_sources": _("Sources of knowledge"),
    "bridge": _("Links between what happened and memories"),
    "note_compactions": _("Drafts of shorter notes"),
    "consolidations": _("Searches for contradictions"),
    "rules": _("Rules about your memories"),
    "model_calls": _("Questions to language models"),
    "keys": _("Apps that are yours alone, and grants to others"),
    "apps": _("App connections"),
    "accounts": _("Accounts that can see your data"),
    "audit": _("Records of who did what (what was done stays, without your name)"),
    "admin": _("Admin records about you"),
    "outbox": _("Messages inside the hub"),
    "tasks": _("Background work"),
    "pauses": _("Pauses in remembering"),
    "memberships": _("The households and personas you belong to"),
    "downloads": _("Files to download"),
    "looks": _("Operators’ views of your pages"),
    "planned_erasures": _("Your request to be forgotten"),
    "erasures": _("Records of forgetting"),
    "retention_policies": _("Settings of the timeline"),
    "routing_policies": _("Settings of what becomes a memory"),
}


@dataclass(frozen=True)
class StoreCount:
    """How much a store has. gone: of it, while it is being removed."""

    words: str | Promise
    count: int
    gone: int = 0


def store_counts(found: Mapping[str, int], left: Mapping[str, int] | None = None) -> list[StoreCount]:
    """Return the stores that had something, in words. left: how much is there still; None for all of it."""
    names = [name for name in [*STORES, *sorted(found.keys() - STORES.keys())] if found.get(name)]
    return [
        StoreCount(STORES.get(name, name), found[name], max(0, found[name] - (left or {}).get(name, 0)))
        for name in names
    ]
