"""A person's decision about a conflict: a small run that changes one pointer in one transaction."""

from collections import Counter
from uuid import UUID

from django.db import transaction

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, InvalidInputError, NotFoundError
from apps.core.domain.scope import Access
from apps.core.steps import Step, no_step
from apps.semantic.services import managed_prepare, managed_with_space
from apps.sync.domain.errors import StateCorruptedError
from apps.sync.domain.plan import DIFFERENCES, allowed_resolutions
from apps.sync.domain.state import ConflictType, Plan, Resolution, SyncConflict
from apps.sync.models import (
    KnowledgeSource,
    PointerConflict,
    SyncConflictState,
    SyncKind,
    SyncRun,
    SyncRunState,
    SyncState,
)
from apps.sync.runs.apply import Prepared, apply_plan, begin_apply
from apps.sync.runs.compare import SourceComparison, compare, compare_one
from apps.sync.runs.lock import source_lock
from apps.sync.runs.manifest import Manifest
from apps.sync.runs.outcome import end_interrupted, finish_run
from apps.sync.runs.rows import write_conflicts
from apps.sync.runs.stored import Stored, checkpoint_make, load_stored, state_digest
from apps.sync.runs.sync import begin_run, carry_out, read_again
from apps.sync.runs.work import make_drafts, managed_change
from apps.sync.sources.access import source_to_change

NO_SUCH_CONFLICT = "There is no such conflict."
NOT_OPEN, OUTDATED = "conflict_not_open", "conflict_outdated"


def conflict_resolve(
    *, access: Access, uuid: UUID, resolution: Resolution, clock: Clock = SYSTEM_CLOCK, step: Step = no_step
) -> PointerConflict:
    """Decide about a conflict that waits for a person, and return it. Call it outside a transaction.

    A memory that is left as it is stays so until the item or the memory changes. Raises NotFoundError, ForbiddenError,
    InvalidInputError, ConflictError for one that does not wait (any more) or while the source is being synced.
    """
    sources = KnowledgeSource.objects.all().visible_to(access)
    conflict = PointerConflict.objects.filter(uuid=uuid, source__in=sources).select_related("source").first()
    if conflict is None:
        raise NotFoundError(NO_SUCH_CONFLICT)
    source = source_to_change(access, conflict.source.uuid)
    check_resolution(conflict, resolution)
    run = SyncRun(
        source=source,
        kind=SyncKind.RESOLUTION,
        item_id=conflict.item_id,
        reason="manual",
        actor=access.actor,
        requested_at=utcnow(clock),
    )
    with source_lock(source.pk):
        run.source = read_again(source)
        end_interrupted(run.source, clock)
        conflict.refresh_from_db()
        check_resolution(conflict, resolution)
        begin_run(run, clock)
        carry_out(run, ResolutionWork(run, conflict, resolution, clock, step), clock)
    conflict.refresh_from_db()
    return conflict


def check_resolution(conflict: PointerConflict, resolution: Resolution) -> None:
    """Raise ConflictError for a conflict that does not wait, InvalidInputError for what cannot be done about it."""
    if conflict.state != SyncConflictState.OPEN:
        raise ConflictError("This conflict is not waiting for a decision.", code=NOT_OPEN)
    allowed = [one for one in allowed_resolutions(ConflictType(conflict.type)) if one is not Resolution.MANUAL]
    if resolution not in allowed:
        raise InvalidInputError(f"Choose one of {', '.join(allowed)}.", attr="resolution", code="invalid_choice")


class ResolutionWork:
    """The work of a decision, under the lock of its source."""

    def __init__(
        self, run: SyncRun, conflict: PointerConflict, resolution: Resolution, clock: Clock, step: Step
    ) -> None:
        self.run, self.source, self.conflict, self.resolution = run, run.source, conflict, resolution
        self.clock, self.step = clock, step
        self.conflicts: Counter[str] = Counter()

    def work(self) -> None:
        """Do all steps. Raises MemoryHubError; nothing is changed then."""
        self.step("started")
        stored = load_stored(self.source)
        if stored.damaged:
            raise StateCorruptedError("The state of the source is damaged: a sync rebuilds it.")
        checkpoint_make(self.source, self.run, stored, self.clock)
        self.run.from_commit = self.run.to_commit = stored.state.last_commit
        manifest = Manifest(stored.state.files_commit, stored.files)
        comparison = compare_one(compare(self.source, manifest, stored), self.conflict.item_id)
        if self.conflict.type not in {one.type.value for one in comparison.conflicts}:
            PointerConflict.objects.filter(pk=self.conflict.pk).update(
                state=SyncConflictState.OUTDATED, resolved_at=utcnow(self.clock)
            )
            raise ConflictError("The memory and its item no longer differ in this way.", code=OUTDATED)
        managed_with_space(lambda: self.write(stored, comparison))

    def plan(self, comparison: SourceComparison) -> tuple[Plan, list[tuple[SyncConflict, Resolution]]]:
        """Return what is done, and each conflict of the item with what became of it: others wait on.

        A pointer is written as a whole, so that all its differences are decided at once.
        """
        chosen = ConflictType(self.conflict.type)
        types = set(DIFFERENCES) if chosen in DIFFERENCES else {chosen}
        resolutions = {
            one.value: (self.resolution if one in types else Resolution.KEEP_MEMORY).value for one in ConflictType
        }
        plan = comparison.plan(resolutions=resolutions)
        resolved = [
            (conflict, resolution if conflict.type in types else Resolution.MANUAL)
            for conflict, resolution in plan.resolved
        ]
        return plan, resolved

    def write(self, stored: Stored, comparison: SourceComparison) -> None:
        """Embed and write. Raises MemoryHubError, SpaceChangedError."""
        plan, resolved = self.plan(comparison)
        drafts = make_drafts(comparison, plan)
        part = managed_prepare(changes=[managed_change(comparison, change, draft) for change, draft in drafts])
        self.step("embedded")
        prepared, now, run = Prepared(plan, drafts, [part]), utcnow(self.clock), self.run
        with transaction.atomic():
            begin_apply(self.source, run)
            applied = apply_plan(
                run, comparison, stored, prepared, commit=stored.state.files_commit, clock=self.clock, step=self.step
            )
            write_conflicts(run, resolved, looked_at=[run.item_id], now=now, resolved_by=run.actor)
            state = SyncState.objects.select_for_update().get(source=self.source)
            state.generation += 1
            state.checksum = state_digest(state, applied.digest)
            state.save(update_fields=["generation", "checksum"])
            run.added, run.updated, run.deleted = len(applied.added), len(applied.updated), len(applied.deleted)
            run.state = SyncRunState.COMPLETE
            finish_run(run, now)
            self.step("applied")
