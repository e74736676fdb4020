"""The door of semantic memory: everything that other apps and the composition root may call, besides `selectors`.

Nothing inside the app imports it but the layers above it.
"""

from apps.semantic.bridge.status import BridgeStatus, bridge_status
from apps.semantic.conflicts.bulk_accept import (
    MAX_ALIKE,
    alike_of,
    batch_accept,
    batch_undo,
    count_alike,
    decisions_alike,
)
from apps.semantic.conflicts.queue import (
    MAX_COUNTED,
    MAX_LISTED,
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
from apps.semantic.conflicts.rehearsal import rehearse
from apps.semantic.conflicts.review import Winner, conflict_accept, conflict_override, conflict_revert
from apps.semantic.conflicts.trial import trial_of
from apps.semantic.conflicts.undo import Review, can_be_undone, conflict_review, decision_undo, review_undo
from apps.semantic.evaluation.run import question_line
from apps.semantic.extraction.extract import memories_find
from apps.semantic.index.examine import IndexExamination, index_examine
from apps.semantic.index.overview import IndexOverview, UserIndex, index_overview
from apps.semantic.index.recall import index_build_request, recall_verify_request
from apps.semantic.index.warm_up import end_index, start_index
from apps.semantic.judge.services import (
    judge_status,
)
from apps.semantic.memories.bring_back import SUCCESSOR_GONE
from apps.semantic.memories.brought import decisions_take_back, memories_stored
from apps.semantic.memories.deletion import Selection, memories_delete, memories_purge, memories_restore
from apps.semantic.memories.known import (
    KnownFilter,
    KnownState,
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
from apps.semantic.memories.reembed import outdated_words, reembed, reembed_needed, refresh_words
from apps.semantic.memories.save import memory_save, memory_save_many
from apps.semantic.memories.update import MemoryEdit, memory_set_household, memory_update
from apps.semantic.memories.writer import SaveResult
from apps.semantic.search.absence import Absence, Missing, memories_missing
from apps.semantic.search.in_force import memory_successors, successors_register
from apps.semantic.search.search import Found, SearchResult, memory_search
from apps.semantic.search.standing import StandingMemory, memories_standing
from apps.semantic.status import (
    MemoryCounts,
    SearchStore,
    memory_counts,
    search_store,
    store_status,
    unhealthy_status,
)
