"""Acts as the rest of a sentence that begins with who acted: "revoked an API key", "decided 20 conflicts".

Rows keep codes such as `api_key.revoke`. THINGS and VERBS together say what most of them mean; ACTS says those that are
a sentence of their own.
"""

from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core.words import Counted, Words

# What is acted upon: one of it, and several.
THINGS: dict[str, Any] = {
    "api_key": Counted("an API key", "%(n)s API keys", "n"),
    "audit_record": Counted("a record of pruned events", "%(n)s records of pruned events", "n"),
    "budget_day": Counted("a day of spending", "%(n)s days of spending", "n"),
    "compaction": Counted("a compaction", "%(n)s compactions", "n"),
    "conflict": Counted("a conflict", "%(n)s conflicts", "n"),
    "consolidation": Counted("a consolidation", "%(n)s consolidations", "n"),
    "conversation": Counted("a conversation", "%(n)s conversations", "n"),
    "display_name": Counted("the name of a household", "%(n)s names of households", "n"),
    "delivery": Counted("a delivery", "%(n)s deliveries", "n"),
    "embedding_space": Counted("an embedding space", "%(n)s embedding spaces", "n"),
    "event": Counted("an event", "%(n)s events", "n"),
    "extracted_fact": Counted("a learnt fact", "%(n)s learnt facts", "n"),
    "extraction_run": Counted("an extraction", "%(n)s extractions", "n"),
    "failed_task": Counted("a failed task", "%(n)s failed tasks", "n"),
    "group": Counted("a role", "%(n)s roles", "n"),
    "invitation": Counted("an invitation", "%(n)s invitations", "n"),
    "judge": Counted("a judgement", "%(n)s judgements", "n"),
    "knowledge_item": Counted("an item of knowledge", "%(n)s items of knowledge", "n"),
    "knowledge_source": Counted("a source of knowledge", "%(n)s sources of knowledge", "n"),
    "membership": Counted("a membership", "%(n)s memberships", "n"),
    "memory": Counted("a memory", "%(n)s memories", "n"),
    "merge_rule": Counted("a rule", "%(n)s rules", "n"),
    "model_call": Counted("a model call", "%(n)s model calls", "n"),
    "name_of_a_household_or_persona": Counted("a name of a household", "%(n)s names of households", "n"),
    "note": Counted("a note", "%(n)s notes", "n"),
    "note_version": Counted("a version of a note", "%(n)s versions of notes", "n"),
    "pointer_conflict": Counted("a pointer conflict", "%(n)s pointer conflicts", "n"),
    "price": Counted("a price", "%(n)s prices", "n"),
    "queued_task": Counted("a queued task", "%(n)s queued tasks", "n"),
    "retention_policy": Counted("a retention policy", "%(n)s retention policies", "n"),
    "routed_event": Counted("a routed event", "%(n)s routed events", "n"),
    "routing_policy": Counted("a routing policy", "%(n)s routing policies", "n"),
    "rule_version": Counted("a version of a rule", "%(n)s versions of rules", "n"),
    "scheduled_task": Counted("a schedule", "%(n)s schedules", "n"),
    "segment": Counted("a segment", "%(n)s segments", "n"),
    "sync_run": Counted("a sync", "%(n)s syncs", "n"),
    "timeline_event": Counted("an event", "%(n)s events", "n"),
    "timeline_warning": Counted("a warning", "%(n)s warnings", "n"),
    "tool_count": Counted("a count of tools", "%(n)s counts of tools", "n"),
    "user": Counted("an account", "%(n)s accounts", "n"),
}
# Other names of the same things, in addresses of the API and of pages.
SAME = {
    "conflicts": "conflict", "days_event": "event", "decisions": "conflict", "events": "event",
    "fact": "extracted_fact",
    "invitations": "invitation", "key": "api_key", "keys": "api_key", "memberships": "membership",
    "memories": "memory", "note_edit": "note", "notes": "note", "notes_compaction": "compaction",
    "notes_version": "note_version", "rule": "merge_rule", "rules": "merge_rule", "semantic_memory": "memory",
    "sync_source": "knowledge_source", "sync_sources": "knowledge_source",
}  # fmt: skip
# What is done with any of them.
VERBS: dict[str, Words] = {
    "accept": _("accepted %(things)s"),
    "add": _("added %(things)s"),
    "apply": _("applied %(things)s"),
    "apply_suggested": _("applied what was suggested for %(things)s"),
    "batch": _("saved %(things)s at once"),
    "change": _("changed %(things)s"),
    "create": _("added %(things)s"),
    "delete": _("deleted %(things)s"),
    "delete_selected": _("deleted %(things)s"),
    "discard": _("discarded %(things)s"),
    "dismiss": _("dismissed %(things)s"),
    "end": _("ended %(things)s"),
    "forget": _("forgot %(things)s"),
    "import": _("imported %(things)s"),
    "keep": _("kept %(things)s"),
    "keep_both": _("kept both sides of %(things)s"),
    "keep_candidate": _("kept the new side of %(things)s"),
    "keep_existing": _("kept the old side of %(things)s"),
    "load": _("loaded %(things)s"),
    "override": _("decided %(things)s"),
    "pause": _("paused %(things)s"),
    "redeliver": _("sent %(things)s again"),
    "reinforce": _("confirmed %(things)s"),
    "replace": _("replaced %(things)s"),
    "reset": _("reset %(things)s"),
    "resolve": _("resolved %(things)s"),
    "restore": _("restored %(things)s"),
    "resubmit": _("ran %(things)s again"),
    "resume": _("resumed %(things)s"),
    "retry": _("retried %(things)s"),
    "revert": _("took back %(things)s"),
    "revert_many": _("took back %(things)s"),
    "revoke": _("revoked %(things)s"),
    "roll_back": _("rolled back %(things)s"),
    "rotate": _("rotated %(things)s"),
    "run": _("ran %(things)s"),
    "seal": _("sealed %(things)s"),
    "soft_delete": _("deleted %(things)s"),
    "sync": _("synced %(things)s"),
    "sync_all_of": _("synced all of %(things)s"),
    "undo": _("undid %(things)s"),
    "undo_deletion": _("brought back %(things)s"),
    "update": _("updated %(things)s"),
    "verify": _("checked %(things)s"),
}
COMMAND = "command"
# Ends of names of buttons, which say what was chosen.
CHOSEN = ("_this", "_chosen")
DECIDED = Counted("decided a conflict", "decided %(n)s conflicts", "n")
UNDECIDED = Counted("took back a decision", "took back %(n)s decisions", "n")
ACTS: dict[str, Any] = {
    "account_change.password": _("changed their password"),
    "account_invitation.create": _("took an invitation"),
    "account_language.create": _("chose a language"),
    "account_login.create": _("tried to sign in"),
    "account_logout.create": _("signed out"),
    "account_reauthenticate.create": _("entered their password again"),
    "account_reset.password": _("asked for a new password"),
    "account_reset_password_from_key.create": _("chose a password by a link"),
    "account_set.password": _("chose a password"),
    "api_key.create": _("made an API key"),
    "app.connect": _("connected an app"),
    "app.forget": _("forgot what an app learnt"),
    "app.let_in": _("let an app in again"),
    "app.refuse": _("refused an app"),
    "app.stop": _("stopped an app"),
    "ask_question.create": _("kept a question for measuring searches"),
    "audit.csv": _("downloaded the audit"),
    "auth_user_password.change": Counted("changed a password", "changed %(n)s passwords", "n"),
    "budget_day.llm_breaker_reset": _("let a provider be called again"),
    "budget_day.waive_today": _("reset today's spending"),
    "clear_up.undo": Counted("took back an answer", "took back %(n)s answers", "n"),
    "clear_up_answer.create": Counted("cleared up a pair", "cleared up %(n)s pairs", "n"),
    "connect_answer.create": _("answered an app that wants to connect"),
    "conversation_events.create": _("recorded a conversation"),
    "days.forget": _("forgot days"),
    "decisions_accept_alike.create": DECIDED,
    "decisions_act.create": DECIDED,
    "decisions.create": DECIDED,
    "decisions.undo": UNDECIDED,
    "erasures.create": _("forgot a person, or counted what it would remove"),
    "events.create": Counted("recorded an event", "recorded %(n)s events", "n"),
    "bring.create": _("uploaded a file of another program"),
    "bring_confirm.create": _("brought in a file of another program"),
    "bring_drop.create": _("removed an uploaded file"),
    "bring_undo.create": _("undid an import"),
    "export.open": _("exported data"),
    "first_key.create": _("made the first API key"),
    "first_memory.create": _("saved the first memory"),
    "first_steps.dismiss": _("closed the first steps"),
    "forgetting.undo": _("took back that an app's memories are forgotten"),
    "go_on.create": _("let memories be saved again"),
    "index_build.create": _("built the index"),
    "index_verify.create": _("checked what searches find"),
    "learned.undo": Counted("undid a memory", "undid %(n)s memories", "n"),
    "llm_breaker_reset.create": _("let a provider be called again"),
    "llm_tools.execute": Counted("called a tool", "called %(n)s tools", "n"),
    "mcp.create": Counted("sent a message by MCP", "sent %(n)s messages by MCP", "n"),
    "mcp_project.create": Counted("sent a message by MCP", "sent %(n)s messages by MCP", "n"),
    "memories.create": Counted("saved a memory", "saved %(n)s memories", "n"),
    "memory.compact": _("compacted MEMORY.md"),
    "memory_compaction_decide.create": _("decided about a compaction"),
    "memory_correct.create": Counted("corrected a memory", "corrected %(n)s memories", "n"),
    "memory_keep_for.create": Counted("changed who sees a memory", "changed who sees %(n)s memories", "n"),
    "memory_settings_save.create": _("changed memory settings"),
    "memory_still_true.create": Counted("confirmed a memory", "confirmed %(n)s memories", "n"),
    "messages.create": _("asked a model"),
    "mfa_activate_totp.create": _("set up an authenticator app"),
    "mfa_add_webauthn.create": _("added a passkey"),
    "mfa_authenticate.create": _("entered a code to sign in"),
    "mfa_deactivate_totp.create": _("removed the authenticator app"),
    "mfa_edit_webauthn.create": _("renamed a passkey"),
    "mfa_generate_recovery_codes.create": _("made recovery codes"),
    "mfa_login_webauthn.create": _("signed in with a passkey"),
    "mfa_reauthenticate.create": _("entered a code again"),
    "mfa_reauthenticate_webauthn.create": _("confirmed with a passkey"),
    "mfa_remove_webauthn.create": _("removed a passkey"),
    "note_edit.create": Counted("edited a note", "edited %(n)s notes", "n"),
    "notes.compact": _("compacted notes"),
    "notes_commands.create": _("wrote to a note"),
    "notes_config.change": _("changed memory settings"),
    "notes_config.replace": _("changed memory settings"),
    "notes_daily_entries.create": _("wrote to a daily log"),
    "notes_main_entries.create": _("wrote to MEMORY.md"),
    "notes_day.replace": _("edited a daily log"),
    "notes_main.replace": _("edited MEMORY.md"),
    "notes_today.create": _("wrote to the log of today"),
    "password.change": _("changed their password"),
    "pause.create": _("paused what is remembered"),
    "person.export": _("downloaded everything about a person"),
    "person.forget": _("began to forget a person"),
    "person.open": _("opened the page of a person"),
    "person_look.begin": _("began to view a person's pages"),
    "person_look.create": _("began to view a person's pages"),
    "person_look.end": _("stopped viewing a person's pages"),
    "person_look.open": _("viewed a page of a person"),
    "person_look_stop.create": _("stopped viewing a person's pages"),
    "privacy.forget": _("asked to be forgotten"),
    "privacy_download.create": _("asked for a file of everything"),
    "privacy_download_remove.create": _("removed the file of everything"),
    "privacy_file.open": _("downloaded the file of everything"),
    "privacy_take_back.create": _("took back the wish to be forgotten"),
    "sample.create": _("loaded or removed the sample household"),
    "segment.check_all": _("checked all segments"),
    "segment.compact_small": _("joined small segments"),
    "segment.repair_all": _("repaired all segments"),
    "segment.repair_from_page": _("repaired a segment"),
    "segment.seal_all": _("sealed all segments"),
    "session.second_factor": _("entered a code to sign in"),
    "session.sign_in": _("signed in"),
    "session.sign_out": _("signed out"),
    "settings.create": _("changed their settings"),
    "store.create": Counted("worked with stored values", "worked with stored values %(n)s times", "n"),
    "sync.pause": _("paused a source of knowledge"),
    "sync.resolve": _("resolved a pointer conflict"),
    "sync.resume": _("resumed a source of knowledge"),
    "sync.rollback": _("rolled back a sync"),
    "sync.sessions": _("began or ended a session of knowledge"),
    "sync.sync": _("synced knowledge"),
    "sync_webhook.create": _("asked for a sync by a webhook"),
    "tell.create": _("added a memory"),
    "user.password_change": Counted("changed a password", "changed %(n)s passwords", "n"),
    "user.password_link": _("made a link to choose a password"),
    "user.reset_second_factor": _("reset the second factor of an account"),
    "user.sign_out_everywhere": _("signed an account out everywhere"),
    "usersessions_list.create": _("signed out another device"),
    "work.aside": _("set failed tasks aside"),
    "work.pause": _("paused a schedule"),
    "work.redeliver": _("sent deliveries again"),
    "work.rerun": _("ran failed tasks again"),
    "work.resume": _("resumed a schedule"),
    "work.run": _("ran a schedule"),
}


def sentence(action: str, count: int = 1) -> str:
    """Return what was done as the rest of a sentence, so many times; a code that has no words here in English."""
    said = said_of(action, count)
    if count > 1 and said == said_of(action, 1):
        return gettext("%(words)s, %(n)s times") % {"words": said, "n": f"{count:,}"}
    return said


def said_of(action: str, count: int) -> str:
    """Return an act in words; those that count nothing say the same for every number."""
    if act := ACTS.get(action):
        return str(act % {"n": count})
    what, _dot, verb = action.partition(".")
    if what == COMMAND:
        return gettext("ran the command %(command)s") % {"command": verb}
    thing, done = THINGS.get(SAME.get(what, what)), verb_of(verb)
    if thing is None or done is None:
        return action.replace("_", " ").replace(".", ": ")
    return str(done % {"things": thing % {"n": count}})


def is_known(action: str) -> bool:
    """Return whether an act has words of its own."""
    what, _dot, verb = action.partition(".")
    return action in ACTS or what == COMMAND or (SAME.get(what, what) in THINGS and verb_of(verb) is not None)


def verb_of(verb: str) -> "Words | None":
    """Return the words of a verb, which buttons call by what was chosen: `revoke_this`."""
    for end in CHOSEN:
        verb = verb.removesuffix(end)
    return VERBS.get(verb)
