"""Tasks, hub events and subscribers in words; a task without an entry is described by its docstring."""

from apps.events.services import JobWords

JOBS: dict[str, JobWords] = {
    "apps.audit.tasks.trim": JobWords("Trim the audit", "Deletes entries of the audit whose time is over."),
    "apps.events.tasks.drain": JobWords("Deliver events", "Passes hub events on to those who listen to them."),
    "apps.events.tasks.sweep": JobWords("Look for deliveries", "Requests the deliveries that are due again."),
    "apps.events.tasks.trim": JobWords("Trim deliveries", "Deletes old deliveries, and the records of old runs."),
    "apps.episodic.tasks.maintain": JobWords(
        "Maintain the timeline", "Closes, seals, archives and merges segments that are due."
    ),
    "apps.episodic.tasks.prune": JobWords("Prune the timeline", "Deletes events whose retention is over."),
    "apps.episodic.tasks.work_part": JobWords("Work on segments", "Does a part of what was asked for on a page."),
    "apps.llm.tasks.sweep_guards": JobWords(
        "Clear model guards", "Removes reservations and counts of chat models that are no longer needed."
    ),
    "apps.monitor.tasks.sample": JobWords("Sample numbers", "Keeps the numbers of this minute for charts."),
    "apps.monitor.tasks.roll_up": JobWords("Thin out numbers", "Joins old samples into one an hour, a year at most."),
    "apps.notes.tasks.look_at_disk": JobWords("Read notes", "Records what people changed in their notes on the disk."),
    "apps.notes.tasks.extract_facts": JobWords("Extract facts", "Finds facts in new messages of conversations."),
    "apps.notes.tasks.clear_conversations": JobWords(
        "Clear conversations", "Deletes the contents of messages whose time is over."
    ),
    "apps.notes.tasks.compact": JobWords("Compact a note", "Drafts a shorter MEMORY.md, as a person asked for."),
    "apps.people.tasks.erase": JobWords("Forget people", "Continues every erasure that is not finished."),
    "apps.semantic.tasks.consolidate_enabled": JobWords(
        "Start consolidations", "Requests the consolidations that are on."
    ),
    "apps.semantic.tasks.consolidate": JobWords("Consolidate memories", "Looks for conflicts among stored memories."),
    "apps.semantic.tasks.judge_enabled": JobWords("Start the judge", "Requests the judge of conflicts, if it is on."),
    "apps.semantic.tasks.judge": JobWords("Judge conflicts", "Puts undecided pairs of memories to the chat model."),
    "apps.semantic.tasks.expire_memories": JobWords("Expire memories", "Deletes memories whose expiry is over."),
    "apps.semantic.tasks.ingest_events": JobWords(
        "Make memories of events", "Saves events of the timeline as memories."
    ),
    "apps.semantic.tasks.reconcile_events": JobWords(
        "Follow pruned events", "Deletes or keeps the memories of events that were pruned."
    ),
    "apps.semantic.tasks.catch_up_events": JobWords(
        "Catch up with the timeline", "Requests what a lost task left between the timeline and memories."
    ),
    "apps.semantic.tasks.trim_events": JobWords("Trim routed events", "Deletes what the bridge needs no more."),
    "apps.semantic.tasks.revert_conflicts": JobWords("Revert decisions", "Reverts the next part of many decisions."),
    "apps.semantic.tasks.build_graph": JobWords("Build a graph", "Builds the graph of a large index on the disk."),
    "apps.semantic.tasks.verify_recall": JobWords(
        "Verify recall", "Compares what the graph of a large index finds with an exact search."
    ),
    "apps.sync.tasks.run": JobWords("Sync a source", "Brings the knowledge of a source up to date."),
    "apps.sync.tasks.due": JobWords("Start syncs", "Requests the syncs that are due."),
    "apps.sync.tasks.trim": JobWords("Trim syncs", "Deletes old runs and checkpoints of syncs."),
    "memoryhub.tasks.sample_load": JobWords(
        "Bring in the sample", "Saves the sample household, as the first page asked."
    ),
    "memoryhub.tasks.sample_unload": JobWords("Remove the sample", "Removes the sample household for good."),
}

EVENTS: dict[str, str] = {
    "memory:episodic:saved": "timeline event saved",
    "memory:episodic:pruned": "timeline events pruned",
    "memory:episodic:warning": "timeline warned",
    "memory:episodic:healthy": "timeline healthy again",
    "memory:episodic:segment_changed": "timeline segment changed",
    "memory:semantic:saved": "memory saved",
    "memory:semantic:reinforced": "memory reinforced",
    "memory:semantic:deleted": "memory deleted",
    "memory:semantic:restored": "memory restored",
    "memory:semantic:status_changed": "memory replaced or restored",
    "memory:semantic:purged": "memories purged",
    "memory:semantic:index_health": "health of the index changed",
    "memory:conflict:decided": "conflict decided",
    "memory:sync:finished": "sync finished",
    "memory:sync:failed": "sync failed",
    "memory:sync:conflict": "sync met a conflict",
    "rule:registered": "rule made",
    "rule:updated": "rule changed",
    "rule:deleted": "rule deleted",
}

HANDLERS: dict[str, str] = {
    "apps.semantic.bridge.handlers.events_saved": "make memories",
    "apps.semantic.bridge.handlers.events_pruned": "update their memories",
    "apps.semantic.bridge.handlers.timeline_warned": "note it in the log",
    "apps.semantic.bridge.handlers.timeline_healthy": "note it in the log",
}
