"""The bridge from the timeline in exports and imports: the course of each event, audit records, and the policies."""

from collections.abc import Iterator, Sequence
from typing import Any

from apps.core.db.scoped import scope_filter
from apps.core.db.user_locks import hold_users
from apps.core.domain.filters.expression import EVERYTHING
from apps.core.personal.columns import Columns
from apps.core.personal.settings_table import SettingsStore
from apps.core.personal.store import ExportRequest, Line, UserTable
from apps.semantic.models import BridgeAudit, Ingestion, Memory, OnPruneChoices, RoutingPolicy
from apps.semantic.personal.memories import AT_ONCE, among, asked_memories, uuid_at
from apps.semantic.personal.receipts import number_at, numbers_of, references

ROUTED, AUDIT = "routed_event", "audit_record"
# Which policy wanted an event and how it went is for operators, as is who pruned it.
OF_ROUTED = {"policy": "", "on_prune": OnPruneChoices.DEMOTE.value, "tries": 0, "error": "", "pruned_by": ""}
OF_AUDIT = {"policy": "", "actor": ""}


class BridgeStore(UserTable):
    """The course of events that become memories, and the audit of those that were pruned."""

    name = "bridge"
    order = 40
    models = (Ingestion, BridgeAudit)
    kinds = (ROUTED, AUDIT)

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield both in the order in which they were written."""
        routed, audits = Columns(Ingestion), Columns(BridgeAudit)
        of_routed, of_audit = ({}, {}) if asked.is_operator else (OF_ROUTED, OF_AUDIT)
        courses = Ingestion.objects.filter(scope_filter(asked.scope)).filter(among(asked, "memory")).order_by("pk")
        for row in courses.select_related("memory").iterator(AT_ONCE):
            yield {"kind": ROUTED, **routed.values(row), **of_routed, **references(row, ("memory",))}
        records = BridgeAudit.objects.filter(scope_filter(asked.scope)).order_by("pk")
        if asked.where("memories") != EVERYTHING:
            records = records.filter(memory__in=asked_memories(asked).values("uuid"))
        for record in records.iterator(AT_ONCE):
            yield {"kind": AUDIT, **audits.values(record), **of_audit}

    def load(self, lines: Sequence[Line]) -> int:
        """Write those that the hub does not have. Events that still waited become memories here.

        Raises UserLockedError.
        """
        is_audit = lines[0]["kind"] == AUDIT
        model: type[Any] = BridgeAudit if is_audit else Ingestion
        key, names = ("uuid", ()) if is_audit else ("event_id", ("memory",))
        columns, uuids = Columns(model), [uuid_at(place, line, key) for place, line in enumerate(lines)]
        known = set(model.objects.filter(**{f"{key}__in": uuids}).values_list(key, flat=True))
        memories, rows = numbers_of(Memory, lines, names), []
        for place, (uuid, line) in enumerate(zip(uuids, lines, strict=True)):
            if uuid not in known:
                row = model(**columns.read_at(place, line, names))
                if isinstance(row, Ingestion) and line.get("memory") is not None:
                    row.memory_id = number_at(place, line, "memory", memories)
                rows.append(row)
        hold_users(row.user_id for row in rows)
        return len(model.objects.bulk_create(rows))


class RoutingPolicyStore(SettingsStore):
    """Which events become memories."""

    name = "routing_policies"
    order = 7
    models = (RoutingPolicy,)
    kinds = ("routing_policies",)
    key = ("name",)
