"""Entries, made to fit their columns, and written; those that could not be are counted."""

import ipaddress
import logging
from collections.abc import Iterable
from typing import Any

from prometheus_client import Counter

from apps.audit.models import AuditEntry
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Scope
from apps.core.domain.unseen import storable
from apps.core.request_id import NO_REQUEST, current_request_id

AUDIT_LOST = Counter("memoryhub_audit_lost", "Acts whose entry in the audit could not be written.")
logger = logging.getLogger(__name__)


def build_entry(
    *,
    actor_kind: str,
    actor: str,
    action: str,
    object_type: str = "",
    object_id: str = "",
    scope: Scope | None = None,
    outcome: str = "done",
    address: str | None = None,
    request_id: str | None = None,
    detail: dict[str, Any] | None = None,
) -> AuditEntry:
    """Return an entry of now that is not written yet. Texts are cut to their columns."""
    identifiers = {name: fitting(name, value) for name, value in (scope or Scope()).named().items()}
    if request_id is None:
        current = current_request_id()
        request_id = "" if current == NO_REQUEST else current
    return AuditEntry(
        at=utcnow(SYSTEM_CLOCK),
        actor_kind=actor_kind,
        actor=fitting("actor", actor),
        action=fitting("action", action),
        object_type=fitting("object_type", object_type),
        object_id=fitting("object_id", str(object_id)),
        outcome=fitting("outcome", outcome),
        address=valid_address(address),
        request_id=fitting("request_id", request_id),
        detail=detail or {},
        **identifiers,
    )


def record(**act: Any) -> AuditEntry:
    """Write an entry at once. See `build_entry` for what an act has."""
    entry = build_entry(**act)
    entry.save(force_insert=True)
    return entry


def write_entries(entries: Iterable[AuditEntry]) -> None:
    """Write entries with one statement."""
    AuditEntry.objects.bulk_create(entries)


def fitting(column: str, text: str) -> str:
    """Return text that a column can hold."""
    limit: int = getattr(AuditEntry._meta.get_field(column), "max_length", None) or 0
    return storable(text)[:limit]


def valid_address(text: str | None) -> str | None:
    """Return an IP address without a zone; None for what is none, such as the name of a socket."""
    try:
        return str(ipaddress.ip_address((text or "").partition("%")[0]))
    except ValueError:
        return None


def note_loss(action: str, error: Exception) -> None:
    """Say that an act is not in the audit; what it did is done."""
    AUDIT_LOST.inc()
    logger.error("an entry of the audit could not be written: %s (%s)", action, type(error).__name__)
