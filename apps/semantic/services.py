"""The door of semantic memory: everything that other apps and the composition root may call, besides `selectors`.

Nothing inside the app imports it but the layers above it.
"""

from apps.semantic.bridge.status import BridgeStatus, bridge_status
from apps.semantic.conflicts.bulk_accept import (
    MAX_ALIKE,
    BatchReport,
    alike_of,
    batch_accept,
    batch_undo,
    count_alike,
    decisions_alike,
)
from apps.semantic.conflicts.bulk_revert import conflicts_revert
from apps.semantic.conflicts.queue import (
    MAX_COUNTED,
    MAX_LISTED,
    QueueCounts,
    asked_ids,
    decided,
    decided_rules,
    open_conflicts,
    queue_count,
    queue_counts,
    queue_ids,
    queue_rows,
    receipt_at,
    visible_keys,
)
from apps.semantic.conflicts.receipt_page import allowed_steps, describe_consequences, memories_of, receipt_context
from apps.semantic.conflicts.rehearsal import rehearse, rehearse_document
from apps.semantic.conflicts.review import Winner, conflict_accept, conflict_override, conflict_revert
from apps.semantic.conflicts.trial import trial_of
from apps.semantic.conflicts.undo import Review, can_be_undone, conflict_review, decision_undo, review_undo
from apps.semantic.consolidation.services import (
    consolidation_create,
    consolidation_delete,
    consolidation_for,
    consolidation_preview,
    consolidation_request,
    consolidation_reset,
    consolidation_run,
    consolidation_update,
)
from apps.semantic.evaluation.run import question_line
from apps.semantic.extraction.extract import ExtractionResult, memories_find
from apps.semantic.index.overview import IndexOverview, UserIndex, index_overview
from apps.semantic.index.recall import index_build_request, recall_verify_request
from apps.semantic.index.warm_up import end_index, start_index
from apps.semantic.judge.services import (
    JudgeState,
    JudgeStatus,
    judge_get,
    judge_preview,
    judge_request,
    judge_run,
    judge_status,
    judge_update,
)
from apps.semantic.memories.bring_back import SUCCESSOR_GONE
from apps.semantic.memories.deletion import Selection, memories_delete, memories_purge, memories_restore
from apps.semantic.memories.known import (
    KnownFilter,
    KnownState,
    Learned,
    confirmed_of,
    learned_lately,
    learned_undo,
    learning_actors,
    learnt_by_day,
    memories_known,
    memories_learnt,
    memory_parts,
    memory_scopes,
    memory_sources,
    memory_used_by,
    memory_writers,
    say_update,
)
from apps.semantic.memories.lifecycle import manager_register, memory_delete, memory_reinforce, memory_restore
from apps.semantic.memories.managed import (
    ManagedChange,
    PreparedManaged,
    managed_prepare,
    managed_with_space,
    managed_write,
)
from apps.semantic.memories.mend import REPLACED, current_successor, memory_hold
from apps.semantic.memories.reembed import outdated_words, refresh_words
from apps.semantic.memories.save import SaveOutcome, memory_save, memory_save_many
from apps.semantic.memories.update import MemoryEdit, memory_set_household, memory_update
from apps.semantic.memories.writer import SaveResult
from apps.semantic.search.absence import Absence, Missing, MissingMemories, memories_missing
from apps.semantic.search.in_force import memory_successors, successors_register
from apps.semantic.search.search import SearchResult, memory_search
from apps.semantic.status import (
    MemoryCounts,
    SearchStore,
    StoreStatus,
    memory_counts,
    search_store,
    store_status,
    unhealthy_status,
)
from apps.semantic.uses.record import KEPT as USES_KEPT

__all__ = [
    "MAX_ALIKE",
    "MAX_COUNTED",
    "MAX_LISTED",
    "REPLACED",
    "SUCCESSOR_GONE",
    "USES_KEPT",
    "Absence",
    "BatchReport",
    "BridgeStatus",
    "ExtractionResult",
    "IndexOverview",
    "JudgeState",
    "JudgeStatus",
    "KnownFilter",
    "KnownState",
    "Learned",
    "ManagedChange",
    "MemoryCounts",
    "MemoryEdit",
    "Missing",
    "MissingMemories",
    "PreparedManaged",
    "QueueCounts",
    "Review",
    "SaveOutcome",
    "SaveResult",
    "SearchResult",
    "SearchStore",
    "Selection",
    "StoreStatus",
    "UserIndex",
    "Winner",
    "alike_of",
    "allowed_steps",
    "asked_ids",
    "batch_accept",
    "batch_undo",
    "bridge_status",
    "can_be_undone",
    "confirmed_of",
    "conflict_accept",
    "conflict_override",
    "conflict_revert",
    "conflict_review",
    "conflicts_revert",
    "consolidation_create",
    "consolidation_delete",
    "consolidation_for",
    "consolidation_preview",
    "consolidation_request",
    "consolidation_reset",
    "consolidation_run",
    "consolidation_update",
    "count_alike",
    "current_successor",
    "decided",
    "decided_rules",
    "decision_undo",
    "decisions_alike",
    "describe_consequences",
    "end_index",
    "index_build_request",
    "index_overview",
    "judge_get",
    "judge_preview",
    "judge_request",
    "judge_run",
    "judge_status",
    "judge_update",
    "learned_lately",
    "learned_undo",
    "learning_actors",
    "learnt_by_day",
    "managed_prepare",
    "managed_with_space",
    "managed_write",
    "manager_register",
    "memories_delete",
    "memories_find",
    "memories_known",
    "memories_learnt",
    "memories_missing",
    "memories_of",
    "memories_purge",
    "memories_restore",
    "memory_counts",
    "memory_delete",
    "memory_hold",
    "memory_parts",
    "memory_reinforce",
    "memory_restore",
    "memory_save",
    "memory_save_many",
    "memory_scopes",
    "memory_search",
    "memory_set_household",
    "memory_sources",
    "memory_successors",
    "memory_update",
    "memory_used_by",
    "memory_writers",
    "open_conflicts",
    "outdated_words",
    "question_line",
    "queue_count",
    "queue_counts",
    "queue_ids",
    "queue_rows",
    "recall_verify_request",
    "receipt_at",
    "receipt_context",
    "refresh_words",
    "rehearse",
    "rehearse_document",
    "review_undo",
    "say_update",
    "search_store",
    "start_index",
    "store_status",
    "successors_register",
    "trial_of",
    "unhealthy_status",
    "visible_keys",
]
