"""Forgetting events: one, those of a day, a month, a year or all, or of one kind of them."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase, StreamingHttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from apps.core.domain.errors import MemoryHubError, NotFoundError
from apps.core.domain.scope import Scope
from apps.episodic.domain.event import MICROSECOND, EventRecord
from apps.episodic.domain.histogram import Spans
from apps.episodic.domain.window import EventQuery, Window
from apps.episodic.selectors import event_days, event_extent, event_get, events_export
from apps.episodic.services import Forgetting, Forgotten, event_delete, events_forget
from apps.semantic.selectors import memories_made, memories_of_events
from apps.semantic.services import Selection, memories_delete, memory_delete
from apps.webui.days.page import CountedKind, kind_named, local_day, source_in_words, when_loaded
from apps.webui.days.span import Span, span_or_404
from apps.webui.pages import render_page
from apps.webui.person import Person


def kinds_in(person: Person, span: Span) -> list[CountedKind]:
    """Return the kinds of the person's events of a span, with how many there are of each."""
    extent = event_extent(person.access, Scope())
    if extent is None:
        return []
    window = span.window
    end = window.end or extent[1]
    counted = event_days(person.access, Scope(), Spans((window.start or extent[0], end + MICROSECOND)))
    return [CountedKind(name, count) for name, count in counted.by_type.items()]


@when_loaded
def forget_page(request: HttpRequest, person: Person, span: str) -> HttpResponse:
    """Say what would be forgotten of a span, and forget it when that is posted. `kind`: the token of one kind."""
    asked = span_or_404(span)
    kinds = kinds_in(person, asked)
    token = request.POST.get("kind", "") or request.GET.get("kind", "")
    kind = kind_named(token, kinds)
    if token and kind is None:
        messages.warning(request, _("There is nothing of this kind left."))
        return HttpResponseRedirect(address_of(asked))
    if request.method == "POST":
        with_memories = bool(request.POST.get("memories"))
        say(request, *forget(person, asked, kind, with_memories=with_memories))
        return HttpResponseRedirect(address_of(asked))
    window = asked.window
    context = {
        "span": asked,
        "kind": kind,
        "kinds": kinds,
        "total": kind.count if kind else sum(one.count for one in kinds),
        "made": len(memories_made(person.access, window.start, window.end, kind.name if kind else "")),
    }
    return render_page(request, person, "webui/days/forget.html", _("Forget"), **context)


def address_of(span: Span) -> str:
    """Return the address of the page of a span; that of all time is the present year."""
    return reverse("webui:days") if span.is_all else reverse("webui:days_span", args=[span.address])


def forget(person: Person, span: Span, kind: CountedKind | None, *, with_memories: bool) -> tuple[Forgotten, int]:
    """Forget the events of a span, and if it is wished the memories made of them. Return what is gone of both."""
    window, name, forgotten = span.window, kind.name if kind else "", 0
    if with_memories:
        ids = tuple(memories_made(person.access, window.start, window.end, name))
        forgotten = memories_delete(access=person.access, chosen=Selection(Scope(), ids)).deleted if ids else 0
    done = events_forget(access=person.access, forgetting=Forgetting(person.user_id, window, name))
    return done, forgotten


def say(request: HttpRequest, done: Forgotten, memories: int) -> None:
    """Tell the person what was forgotten, and what was not."""
    gone = ngettext("%(count)s event is forgotten for good.", "%(count)s events are forgotten for good.", done.events)
    messages.success(request, gone % {"count": f"{done.events:,}"})
    if memories:
        also = ngettext(
            "%(count)s memory made from them is forgotten too. You can bring it back from its page.",
            "%(count)s memories made from them are forgotten too. You can bring them back from their pages.",
            memories,
        )
        messages.success(request, also % {"count": f"{memories:,}"})
    if done.goes_on:
        messages.warning(request, _("The rest is being forgotten now. This page counts what is left."))
    if done.damaged:
        messages.warning(
            request,
            _("A damaged file may hold more of them. Once an operator has repaired it, forget them again."),
        )


@when_loaded
def event_page(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Show an event as a whole, and what forgetting it means."""
    event = event_or_404(person, uuid)
    context: dict[str, Any] = {
        "event": event,
        "source": source_in_words(event.source),
        "memory": memories_of_events(person.access, [uuid]).get(uuid),
    }
    return render_page(request, person, "webui/days/event.html", _("An event"), **context)


def event_or_404(person: Person, uuid: UUID) -> EventRecord:
    """Return an event of the person's. Raises Http404."""
    try:
        return event_get(person.access, uuid)
    except NotFoundError:
        raise Http404 from None


@require_POST
@when_loaded
def event_forget(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Forget one event for good, and if it is wished the memory made of it."""
    event = event_or_404(person, uuid)
    memory = memories_of_events(person.access, [uuid]).get(uuid)
    try:
        if memory is not None and request.POST.get("memories"):
            memory_delete(access=person.access, uuid=memory.uuid)
        event_delete(access=person.access, uuid=uuid)
    except MemoryHubError:
        messages.warning(request, _("It could not be forgotten just now. Try again in a minute."))
        return HttpResponseRedirect(reverse("webui:days_event", args=[uuid]))
    say(request, Forgotten(1), 0)
    return HttpResponseRedirect(reverse("webui:days_span", args=[local_day(event).isoformat()]))


@when_loaded
def copy_file(request: HttpRequest, person: Person, span: str) -> HttpResponseBase:
    """Send the events of a span as a file of lines of JSON, before they are forgotten. `kind`: as in `forget_page`."""
    asked = span_or_404(span)
    kind = kind_named(request.GET.get("kind", ""), kinds_in(person, asked))
    answer = StreamingHttpResponse(lines_of(person, asked.window, kind), content_type="application/x-ndjson")
    answer["Content-Disposition"] = f'attachment; filename="days-{asked.address}.jsonl"'
    return answer


def lines_of(person: Person, window: Window, kind: CountedKind | None) -> Iterator[str]:
    """Yield a line for each event."""
    query = EventQuery(start=window.start, end=window.end, event_types=(kind.name,) if kind else ())
    for event in events_export(person.access, query):
        line = {
            "id": str(event.uuid),
            "at": event.timestamp.isoformat(),
            "kind": event.event_type,
            "content": event.content,
            "source": event.source,
            "metadata": event.metadata,
        }
        yield json.dumps(line, ensure_ascii=False) + "\n"
