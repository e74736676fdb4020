"""How the stream says what happened, and which kinds of entries there are."""

from dataclasses import dataclass

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.audit.selectors import sentence
from apps.core.words import Counted, Words


@dataclass(frozen=True)
class EntryKind:
    """A kind of entries. permission: to see them. is_scoped: whether an account with a bound sees those of its own."""

    name: str
    title: Words
    icon: str
    permission: str
    is_scoped: bool = False


KINDS = (
    EntryKind("memories", _("Memories"), "neurology", "semantic.view_memory", is_scoped=True),
    EntryKind("decisions", _("Decisions"), "balance", "semantic.view_conflict", is_scoped=True),
    EntryKind("timeline", _("Timeline"), "timeline", "episodic.view_timelineevent", is_scoped=True),
    EntryKind("notes", _("Notes"), "description", "notes.view_noteversion", is_scoped=True),
    EntryKind("knowledge", _("Knowledge"), "sync", "sync.view_syncrun", is_scoped=True),
    EntryKind("rules", _("Rules"), "rule", "rules.view_mergerule"),
    EntryKind("models", _("Models"), "forum", "llm.view_modelcall"),
    EntryKind("jobs", _("Failed jobs"), "error", "django_q.view_failure"),
    EntryKind("warnings", _("Warnings"), "warning", "episodic.view_timelinewarning"),
    EntryKind("access", _("Access"), "key", "audit.view_auditentry", is_scoped=True),
)
BY_NAME = {kind.name: kind for kind in KINDS}

# Verb -> phrase, and phrase about a person. words: what the row says.
PHRASES = {
    "saved": (
        Counted("saved a memory", "saved %(n)s memories", "count"),
        Counted("saved a memory of %(person)s", "saved %(n)s memories of %(person)s", "count"),
    ),
    "improved": (
        Counted("saved a memory again", "saved %(n)s memories again", "count"),
        Counted("saved a memory of %(person)s again", "saved %(n)s memories of %(person)s again", "count"),
    ),
    "reinforced": (
        Counted("reinforced a memory", "reinforced %(n)s memories", "count"),
        Counted("reinforced a memory of %(person)s", "reinforced %(n)s memories of %(person)s", "count"),
    ),
    "deleted": (
        Counted("deleted a memory", "deleted %(n)s memories", "count"),
        Counted("deleted a memory of %(person)s", "deleted %(n)s memories of %(person)s", "count"),
    ),
    "restored": (
        Counted("restored a memory", "restored %(n)s memories", "count"),
        Counted("restored a memory of %(person)s", "restored %(n)s memories of %(person)s", "count"),
    ),
    "purged": (
        Counted("purged %(n)s memory for good", "purged %(n)s memories for good", "count"),
        Counted("purged %(n)s memory of %(person)s for good", "purged %(n)s memories of %(person)s for good", "count"),
    ),
    "decided": (
        Counted("decided a conflict: %(words)s", "decided %(n)s conflicts: %(words)s", "count"),
        Counted(
            "decided a conflict of %(person)s: %(words)s",
            "decided %(n)s conflicts of %(person)s: %(words)s",
            "count",
        ),
    ),
    "recorded": (
        Counted("recorded an event", "recorded %(n)s events", "count"),
        Counted("recorded an event of %(person)s", "recorded %(n)s events of %(person)s", "count"),
    ),
    "pruned": (
        Counted("pruned events: %(words)s", "pruned events, %(n)s times: %(words)s", "count"),
        Counted(
            "pruned events of %(person)s: %(words)s", "pruned events of %(person)s, %(n)s times: %(words)s", "count"
        ),
    ),
}
# Those of no person in particular.
HUB_PHRASES = {
    "warned": Counted("warned: %(words)s", "warned %(n)s times: %(words)s", "count"),
    "recovered": Counted("recovered: %(words)s", "recovered %(n)s times: %(words)s", "count"),
    "failed": Counted("could not finish %(words)s", "could not finish %(words)s, %(n)s times", "count"),
}

# Begins the verbs of acts of the audit, before how they ended; their words are the act.
ACT = "act_"
OUTCOMES = {"refused": _("%(act)s (refused)"), "failed": _("%(act)s (failed)")}


def phrase(verb: str, count: int, person: str, words: str) -> str:
    """Return what happened as the rest of a sentence that begins with the actor.

    words: what the row says; of a verb without a phrase of its own it says all.
    """
    if verb.startswith(ACT):
        return act_phrase(verb.removeprefix(ACT), count, person, words)
    values = {"count": count, "n": f"{count:,}", "person": person, "words": words}
    if verb in HUB_PHRASES:
        return HUB_PHRASES[verb] % values
    if verb in PHRASES:
        alone, of_person = PHRASES[verb]
        return (of_person if person else alone) % values
    said = gettext("%(words)s of %(person)s") % values if person else words
    return said if count == 1 else gettext("%(words)s, %(n)s times") % {**values, "words": said}


def act_phrase(outcome: str, count: int, person: str, action: str) -> str:
    """Return an act of the audit, with whom it was about, and how it ended where that was not well."""
    said = sentence(action, count)
    if person:
        said = gettext("%(act)s (%(person)s)") % {"act": said, "person": person}
    return str(OUTCOMES[outcome] % {"act": said}) if outcome in OUTCOMES else said
