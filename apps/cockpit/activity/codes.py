"""Codes of hub events and calls in words. In English each is its code without underscores."""

from django.utils.translation import gettext_lazy as _

from apps.core.words import Words
from apps.llm.selectors import REASONS

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
