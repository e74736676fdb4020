"""Tasks, hub events and subscribers in words; a task without an entry is described by its docstring."""

from django.utils.translation import gettext_lazy as _

from apps.core.words import Words
from apps.events.services import JobWords

JOBS: dict[str, JobWords] = {
    "apps.audit.tasks.trim": JobWords(_("Trim the audit"), _("Deletes expired audit entries.")),
    "apps.events.tasks.drain": JobWords(_("Deliver events"), _("Passes hub events on to their subscribers.")),
    "apps.events.tasks.sweep": JobWords(_("Look for deliveries"), _("Requests the deliveries that are due again.")),
    "apps.events.tasks.trim": JobWords(_("Trim deliveries"), _("Deletes old deliveries, and the records of old runs.")),
    "apps.episodic.tasks.maintain": JobWords(
        _("Maintain the timeline"), _("Closes, seals, archives and merges segments that are due.")
    ),
    "apps.episodic.tasks.prune": JobWords(_("Prune the timeline"), _("Deletes events past their retention.")),
    "apps.episodic.tasks.work_part": JobWords(_("Work on segments"), _("Does part of what was requested on a page.")),
    "apps.llm.tasks.sweep_guards": JobWords(
        _("Clear model guards"), _("Removes reservations and counts of chat models that are no longer needed.")
    ),
    "apps.monitor.tasks.sample": JobWords(_("Sample numbers"), _("Keeps the numbers of this minute for charts.")),
    "apps.monitor.tasks.send_alarms": JobWords(
        _("Send alarms"), _("Sends by mail or to a webhook which problems began, and which are over.")
    ),
    "apps.monitor.tasks.roll_up": JobWords(
        _("Thin out numbers"), _("Merges old samples into one per hour, kept for a year at most.")
    ),
    "apps.notes.tasks.look_at_disk": JobWords(
        _("Read notes"), _("Records what people changed in their notes on the disk.")
    ),
    "apps.notes.tasks.extract_facts": JobWords(_("Extract facts"), _("Finds facts in new messages of conversations.")),
    "apps.notes.tasks.clear_conversations": JobWords(
        _("Clear conversations"), _("Deletes the contents of expired messages.")
    ),
    "apps.notes.tasks.compact": JobWords(
        _("Compact a note"), _("Drafts a shorter MEMORY.md, as requested by a person.")
    ),
    "apps.store.tasks.tidy": JobWords(
        _("Tidy the store"), _("Removes expired items of apps, and makes vectors again after the model has changed.")
    ),
    "apps.people.tasks.erase": JobWords(_("Forget people"), _("Starts and continues erasures.")),
    "apps.people.tasks.make_downloads": JobWords(
        _("Make downloads"), _("Makes the files that people download with their own data, and removes old ones.")
    ),
    "apps.imports.tasks.bring": JobWords(
        _("Bring in files"), _("Looks at files that people uploaded, brings them in, and undoes imports.")
    ),
    "apps.people.tasks.forget_learnt": JobWords(
        _("Forget what apps learnt"), _("Continues forgetting or restoring what people asked for.")
    ),
    "apps.people.tasks.trim_connections": JobWords(
        _("Trim requests of apps"), _("Deletes expired key requests of apps.")
    ),
    "apps.oauth.tasks.trim": JobWords(
        _("Trim sign-ins of apps"), _("Deletes expired codes and tokens of apps, and apps that nobody let in.")
    ),
    "apps.people.tasks.review_memberships": JobWords(
        _("Review foreign writes"), _("Finds what users have in households that they do not belong to.")
    ),
    "apps.semantic.tasks.consolidate_enabled": JobWords(
        _("Start consolidations"), _("Requests the consolidations that are switched on.")
    ),
    "apps.semantic.tasks.consolidate": JobWords(
        _("Consolidate memories"), _("Looks for conflicts among stored memories.")
    ),
    "apps.semantic.tasks.judge_enabled": JobWords(
        _("Start the judge"), _("Requests the judging of conflicts, if it is switched on.")
    ),
    "apps.semantic.tasks.judge": JobWords(
        _("Judge conflicts"), _("Asks the chat model about undecided pairs of memories.")
    ),
    "apps.semantic.tasks.expire_memories": JobWords(_("Expire memories"), _("Deletes expired memories.")),
    "apps.semantic.tasks.ingest_events": JobWords(
        _("Make memories from events"), _("Saves events of the timeline as memories.")
    ),
    "apps.semantic.tasks.reconcile_events": JobWords(
        _("Follow pruned events"), _("Deletes or keeps the memories of events that were pruned.")
    ),
    "apps.semantic.tasks.catch_up_events": JobWords(
        _("Catch up with the timeline"),
        _("Requests the work that a lost task left unfinished between the timeline and memories."),
    ),
    "apps.semantic.tasks.trim_events": JobWords(_("Trim routed events"), _("Deletes what the bridge no longer needs.")),
    "apps.semantic.tasks.revert_conflicts": JobWords(
        _("Revert decisions"), _("Reverts the next part of many decisions.")
    ),
    "apps.semantic.tasks.build_graph": JobWords(
        _("Build a graph"), _("Builds the graph of a large index on the disk.")
    ),
    "apps.semantic.tasks.verify_recall": JobWords(
        _("Verify recall"), _("Compares what the graph of a large index finds with an exact search.")
    ),
    "apps.sync.tasks.run": JobWords(_("Sync a source"), _("Brings the knowledge of a source up to date.")),
    "apps.sync.tasks.due": JobWords(_("Start syncs"), _("Requests the syncs that are due.")),
    "apps.sync.tasks.trim": JobWords(_("Trim syncs"), _("Deletes old runs and checkpoints of syncs.")),
    "memoryhub.tasks.sample_load": JobWords(
        _("Bring in the sample"), _("Saves the sample household, as requested on the first page.")
    ),
    "memoryhub.tasks.sample_unload": JobWords(_("Remove the sample"), _("Removes the sample household for good.")),
}

EVENTS: dict[str, Words] = {
    "memory:episodic:saved": _("timeline event saved"),
    "memory:episodic:pruned": _("timeline events pruned"),
    "memory:episodic:warning": _("timeline warned"),
    "memory:episodic:healthy": _("timeline healthy again"),
    "memory:episodic:segment_changed": _("timeline segment changed"),
    "memory:semantic:saved": _("memory saved"),
    "memory:semantic:reinforced": _("memory reinforced"),
    "memory:semantic:deleted": _("memory deleted"),
    "memory:semantic:restored": _("memory restored"),
    "memory:semantic:status_changed": _("memory replaced or restored"),
    "memory:semantic:purged": _("memories purged"),
    "memory:semantic:index_health": _("index health changed"),
    "memory:conflict:decided": _("conflict decided"),
    "memory:sync:finished": _("sync finished"),
    "memory:sync:failed": _("sync failed"),
    "memory:sync:conflict": _("sync found a conflict"),
    "rule:registered": _("rule made"),
    "rule:updated": _("rule changed"),
    "rule:deleted": _("rule deleted"),
}

HANDLERS: dict[str, Words] = {
    "apps.semantic.bridge.handlers.events_saved": _("make memories"),
    "apps.semantic.bridge.handlers.events_pruned": _("update their memories"),
    "apps.semantic.bridge.handlers.timeline_warned": _("note it in the log"),
    "apps.semantic.bridge.handlers.timeline_healthy": _("note it in the log"),
}
