"""The store of sources of knowledge: they belong to their owner with everything below them."""

from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from django.db import transaction

from apps.core.db.scoped import scope_filter
from apps.core.db.user_locks import hold_users
from apps.core.domain.errors import InvalidInputError
from apps.core.personal.columns import Columns
from apps.core.personal.registry import register_stores
from apps.core.personal.store import ExportRequest, Line, LineError, PersonalStore
from apps.core.steps import Step, no_step
from apps.sync.models import (
    KnowledgeFile,
    KnowledgeItem,
    KnowledgeSource,
    PointerConflict,
    SyncChange,
    SyncCheckpoint,
    SyncRun,
    SyncState,
    WebhookDelivery,
)
from apps.sync.repository.locations import parse_location
from apps.sync.runs.lock import source_lock
from apps.sync.sources.removal import copies_of, copies_remove, names_only_of
from apps.sync.sources.values import CHECKS, check_values

# Who created a source, and the names of secrets, are for operators.
OF_OPERATORS = {"created_by": "", "credentials": "", "webhook_secret": ""}
IMPORTED = "Imported: check the address, enter the names of its secrets, and resume it."


class KnowledgeStore(PersonalStore):
    """Sources. The first sync after an import makes their items again, and finds the pointers that are there.

    Rows and the hub's copies of repositories are forgotten with a source; pointers are memories, which have a store.
    """

    name = "knowledge_sources"
    order = 88
    models = (
        KnowledgeSource, SyncState, KnowledgeFile, KnowledgeItem, SyncRun, SyncCheckpoint, SyncChange, PointerConflict,
        WebhookDelivery,
    )  # fmt: skip
    kinds = ("knowledge_source",)

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield the sources in scope; none where a part of a person is asked for, or a filter is given."""
        scope, columns = asked.scope, Columns(KnowledgeSource)
        if not asked.is_of_whole_people:
            return
        hidden = {} if asked.is_operator else OF_OPERATORS
        for source in KnowledgeSource.objects.filter(scope_filter(scope)).order_by("pk").iterator(100):
            values = {**columns.values(source), **hidden}
            # Of a line, `kind` is what it is of.
            yield {**values, "kind": "knowledge_source", "source_kind": values["kind"]}

    def load(self, lines: Sequence[Line]) -> int:
        """Write the sources that the hub does not have, paused, with empty states. Raises LineError.

        Names of secrets are not taken over: here they may be those of others.
        """
        columns, rows = Columns(KnowledgeSource), dict[UUID, KnowledgeSource]()
        for place, line in enumerate(lines):
            try:
                if isinstance(line, Mapping) and "source_kind" in line:
                    line = {**line, "kind": line["source_kind"]}
                # Whether its path may be read here is decided when it is read.
                values = columns.read(line, ["source_kind"])
                checked = check_values({name: value for name, value in values.items() if name in CHECKS})
                parse_location(checked["location"], kind=checked["kind"])
                held = {"credentials": "", "webhook_secret": "", "paused": values["paused"] or IMPORTED}
                source = KnowledgeSource(**{**values, **checked, **held})
                if not source.user_id or source.uuid in rows:
                    raise ValueError("a source has an owner, and is there once")
            except ValueError as error:
                raise LineError(place, str(error)) from error
            except InvalidInputError as error:
                raise LineError(place, f"{error.attr}: {error.detail}") from error
            rows[source.uuid] = source
        for known in KnowledgeSource.objects.filter(uuid__in=rows).values_list("uuid", flat=True):
            del rows[known]
        taken = set(KnowledgeSource.objects.values_list("name", flat=True))
        for source in rows.values():
            if source.name in taken:
                source.name = f"{source.name[:80]} {source.uuid.hex[:8]}"
            taken.add(source.name)
        hold_users(source.user_id for source in rows.values())
        made = KnowledgeSource.objects.bulk_create(rows.values())
        SyncState.objects.bulk_create(SyncState(source=source) for source in made)
        return len(made)

    def count(self, user_id: str) -> int:
        """Return how many sources and items there are, and files and folders of copies."""
        sources = KnowledgeSource.objects.filter(user_id=user_id)
        copies = sum(len(copies_of(name)) for name in names_only_of(list(sources)))
        return len(sources) + KnowledgeItem.objects.filter(source__in=sources).count() + copies

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        """Remove source by source, first the copy and then the rows.

        Raises ConflictError while a sync runs: it can write no pointer any more, but the copy.
        """
        for source in KnowledgeSource.objects.filter(user_id=user_id).order_by("pk"):
            with source_lock(source.pk):
                step("knowledge copies")
                removed = copies_remove(source)
                step("knowledge rows")
                with transaction.atomic():
                    items = KnowledgeItem.objects.filter(source=source).count()
                    KnowledgeSource.objects.filter(pk=source.pk).delete()
            yield removed + items + 1

    def find(self, user_id: str) -> Iterator[str]:
        """Yield where sources are left."""
        if KnowledgeSource.objects.filter(user_id=user_id).exists():
            yield "sources of knowledge"


register_stores((KnowledgeStore(),))
