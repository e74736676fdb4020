"""How the stream says what happened, and which kinds of entries there are."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """A kind of entries. permission: to see them. is_scoped: whether an account with a bound sees those of its own."""

    name: str
    title: str
    icon: str
    permission: str
    is_scoped: bool = False


KINDS = (
    Kind("memories", "Memories", "neurology", "semantic.view_memory", is_scoped=True),
    Kind("decisions", "Decisions", "balance", "semantic.view_conflict", is_scoped=True),
    Kind("timeline", "Timeline", "timeline", "episodic.view_timelineevent", is_scoped=True),
    Kind("notes", "Notes", "description", "notes.view_noteversion", is_scoped=True),
    Kind("knowledge", "Knowledge", "sync", "sync.view_syncrun", is_scoped=True),
    Kind("rules", "Rules", "rule", "rules.view_mergerule"),
    Kind("models", "Models", "forum", "llm.view_modelcall"),
    Kind("jobs", "Failed jobs", "error", "django_q.view_failure"),
    Kind("warnings", "Warnings", "warning", "episodic.view_timelinewarning"),
    Kind("access", "Access", "key", "audit.view_auditentry", is_scoped=True),
)
BY_NAME = {kind.name: kind for kind in KINDS}

# Verb -> phrase for one, phrase for several. {n}: how many, {of}: " of ana" or nothing, {words}: what the row says.
PHRASES = {
    "saved": ("saved a memory{of}", "saved {n} memories{of}"),
    "improved": ("saved a memory{of} again", "saved {n} memories{of} again"),
    "reinforced": ("reinforced a memory{of}", "reinforced {n} memories{of}"),
    "deleted": ("deleted a memory{of}", "deleted {n} memories{of}"),
    "restored": ("restored a memory{of}", "restored {n} memories{of}"),
    "purged": ("purged {n} memory{of} for good", "purged {n} memories{of} for good"),
    "decided": ("decided about two memories{of}: {words}", "decided {n} conflicts{of}: {words}"),
    "recorded": ("recorded an event{of}", "recorded {n} events{of}"),
    "pruned": ("pruned events{of}: {words}", "pruned events{of}, {n} times: {words}"),
    "warned": ("warned: {words}", "warned {n} times: {words}"),
    "recovered": ("is well again: {words}", "is well again, {n} times: {words}"),
    "rule": ("{words}", "{words}, {n} times"),
    "note": ("{words}{of}", "{words}{of}, {n} times"),
    "synced": ("{words}{of}", "{words}{of}, {n} times"),
    "called": ("{words}{of}", "{words}{of}, {n} times"),
    "failed": ("could not finish {words}", "could not finish {words}, {n} times"),
    "audit": ("{words}{of}", "{words}{of}, {n} times"),
}


def phrase(verb: str, count: int, person: str, words: str) -> str:
    """Return what happened as the rest of a sentence that begins with the actor."""
    one, several = PHRASES[verb]
    of = f" of {person}" if person else ""
    return (one if count == 1 else several).format(n=f"{count:,}", of=of, words=words)
