"""Where a memory came from, and which apps used it, in words."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.core.domain.errors import MemoryHubError
from apps.core.pauses import PERSON
from apps.episodic.selectors import event_get
from apps.notes.selectors import fact_of_memory
from apps.semantic.selectors import Memory, memory_history
from apps.semantic.services import memory_sources, memory_used_by
from apps.sync.selectors import item_of_memory
from apps.webui.actors import KEY
from apps.webui.person import Person

SHOWN_EVENTS, SHOWN_APPS = 3, 20


@dataclass(frozen=True)
class Source:
    """Something that a memory came from. words: a sentence about it. said: its own words. link: to its page."""

    words: str
    said: str = ""
    at: datetime | None = None
    link: str = ""


def origin_of(person: Person, memory: Memory) -> dict[str, Any]:
    """Return who saved a memory, of what it was made, and which apps got it as an answer."""
    first = memory_history(person.access, memory.uuid).first()
    return {
        "saved_by": saver(first.actor if first is not None else "", memory),
        "sources": sources_of(person, memory),
        "uses": memory_used_by(person.access, memory.uuid, SHOWN_APPS),
    }


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


def sources_of(person: Person, memory: Memory) -> list[Source]:
    """Return of what a memory was made, as far as it is still there: messages, events, items of knowledge."""
    sources = []
    fact = fact_of_memory(person.access, memory.uuid)
    if fact is not None:
        message = fact.message
        words = _("From the conversation “%(name)s”") % {"name": fact.run.session_id}
        sources.append(Source(words, message.content if message else "", message.at if message else None))
    elif memory.session_id:
        sources.append(Source(_("From the conversation “%(name)s”") % {"name": memory.session_id}))
    for uuid in memory_sources(person.access, memory.uuid, SHOWN_EVENTS):
        with suppress(MemoryHubError):
            event = event_get(person.access, uuid)
            link = reverse("webui:days_event", args=[uuid])
            sources.append(Source(_("From something that happened"), event.content, event.timestamp, link))
    item = item_of_memory(person.access, memory.uuid) if memory.managed_by else None
    if item is not None:
        words = _("From the file %(path)s of the source “%(name)s”") % {"path": item.path, "name": item.source.name}
        sources.append(Source(words, item.title))
    return sources
