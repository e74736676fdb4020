"""What happened to a memory, in sentences: who did what, where it came from, and which apps used it."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.core.domain.errors import MemoryHubError
from apps.core.pauses import PERSON
from apps.episodic.selectors import event_get
from apps.notes.selectors import fact_of_memory
from apps.semantic.selectors import Memory, MemoryRevision, memory_contents, memory_history
from apps.semantic.services import SUCCESSOR_GONE, memory_sources, say_update
from apps.sync.selectors import item_of_memory
from apps.webui.differing import differing
from apps.webui.person import KEY, Person, who

CONTENT, SUCCESSOR = "content", "superseded_by"
SHOWN_CHARS = 2_000
SHOWN_EVENTS, SHOWN_APPS = 3, 20


def steps_of(person: Person, memory: Memory) -> list[dict[str, Any]]:
    """Return the life of a memory, the latest step first.

    before, after: its words where they changed. earlier: the ones to bring back. other: the memory that took its place,
    with the words of it in `said`.
    """
    revisions = list(memory_history(person.access, memory.uuid))
    successors = {UUID(uuid) for one in revisions if (uuid := one.changes.get(SUCCESSOR, [None, None])[1])}
    said, steps = memory_contents(person.access, successors), []
    for revision in reversed(revisions):
        step: dict[str, Any] = {"words": sentence_of(revision, who(revision.actor, person)), "at": revision.at}
        if revision.action == "created" or CONTENT not in revision.changes:
            other = revision.changes.get(SUCCESSOR, [None, None])[1] or ""
            step |= {"other": other, "said": said.get(UUID(other), "") if other else ""}
        else:
            before, after = (text or "" for text in revision.changes[CONTENT])
            old, new = differing(before, after, SHOWN_CHARS)
            step |= {"before": old, "after": new, "earlier": before if before != memory.content else ""}
        steps.append(step)
    return steps


def sentence_of(revision: MemoryRevision, actor: str) -> str:
    """Return who did what."""
    sentences = {
        "created": _("%(who)s saved it."),
        "reinforced": _("%(who)s said that it still holds."),
        "deleted": _("%(who)s forgot it."),
        "superseded": _("%(who)s replaced it:"),
        "merged": _("%(who)s made it one with another memory:"),
        "rejected": _("%(who)s did not take it over, since this holds:"),
        "reverted": _("%(who)s said that it is true after all."),
        "restored": _("%(who)s brought it back."),
    }
    if revision.action == "deleted" and revision.reason == "expired":
        return _("It was over, so the hub forgot it.")
    if revision.action == "restored" and revision.reason == SUCCESSOR_GONE:
        return _("It holds again, since what had replaced it was forgotten.")
    if revision.action != "updated":
        return sentences.get(revision.action, _("%(who)s changed it.")) % {"who": actor}
    return say_update(revision.changes, actor)


@dataclass(frozen=True)
class MemorySource:
    """Something that a memory came from. words: a sentence about it. said: its own words. link: to its page."""

    words: str
    said: str = ""
    at: datetime | None = None
    link: str = ""


def saver(actor: str, memory: Memory) -> str:
    """Return who saved a memory, in words."""
    if actor.startswith(PERSON):
        return _("You said it on these pages.")
    if actor.startswith(KEY):
        return _("The app %(name)s saved it.") % {"name": actor.removeprefix(KEY)}
    if memory.managed_by:
        return _("It follows a source of knowledge, and changes with it.")
    if actor == "bridge":
        return _("The hub made it from something that happened.")
    return _("The hub saved it.")


def sources_of(person: Person, memory: Memory) -> list[MemorySource]:
    """Return of what a memory was made, as far as it is still there: messages, events, items of knowledge."""
    sources = []
    fact = fact_of_memory(person.access, memory.uuid)
    if fact is not None:
        message = fact.message
        words = _("From the conversation “%(name)s”") % {"name": fact.run.session_id}
        sources.append(MemorySource(words, message.content if message else "", message.at if message else None))
    elif memory.session_id:
        sources.append(MemorySource(_("From the conversation “%(name)s”") % {"name": memory.session_id}))
    for uuid in memory_sources(person.access, memory.uuid, SHOWN_EVENTS):
        with suppress(MemoryHubError):
            event = event_get(person.access, uuid)
            link = reverse("webui:days_event", args=[uuid])
            sources.append(MemorySource(_("From something that happened"), event.content, event.timestamp, link))
    item = item_of_memory(person.access, memory.uuid) if memory.managed_by else None
    if item is not None:
        words = _("From the file %(path)s of the source “%(name)s”") % {"path": item.path, "name": item.source.name}
        sources.append(MemorySource(words, item.title))
    return sources
