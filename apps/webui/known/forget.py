"""Forgetting several memories at once: asked before, and undone as one."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from apps.core.admin.lists import as_uuid
from apps.core.domain.clock import SYSTEM_CLOCK, DeterministicClock, to_datetime, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Scope
from apps.semantic.selectors import memory_contents
from apps.semantic.services import Selection, memories_delete, memories_known, memories_restore
from apps.webui.known.page import KnownForm
from apps.webui.pages import render_page
from apps.webui.person import Person
from apps.webui.problems import words_of

MAX_AT_ONCE, SHOWN = 1_000, 10
# So many digits has a moment in milliseconds that the database can keep.
MAX_DIGITS = 14


@require_POST
def known_forget(request: HttpRequest, person: Person) -> HttpResponse:
    """Ask whether to forget the memories that were chosen, or all that the list shows; `sure` forgets them."""
    uuids = chosen(request, person)
    back = reverse("webui:known")
    if not uuids:
        messages.warning(request, _("Choose what to forget first."))
        return HttpResponseRedirect(back)
    selection = Selection(Scope(), tuple(uuids))
    if "sure" in request.POST:
        return forgotten(request, person, selection)
    counted = memories_delete(access=person.access, chosen=selection, dry_run=True)
    context = {
        "count": counted.matched,
        "left_out": counted.managed + counted.protected,
        "first": list(memory_contents(person.access, uuids[:SHOWN]).values()),
        "more": max(0, len(uuids) - SHOWN),
        "ids": " ".join(str(one) for one in uuids),
        "is_full": len(uuids) == MAX_AT_ONCE,
    }
    return render_page(request, person, "webui/known/forget.html", _("Forget several"), **context)


def chosen(request: HttpRequest, person: Person) -> list[UUID]:
    """Return which memories a form means: those of `ids`, all that its filter shows, or those that are ticked."""
    if "all" in request.POST:
        wanted = KnownForm(person, request.POST).wanted(utcnow(SYSTEM_CLOCK))
        return list(memories_known(person.access, wanted).values_list("uuid", flat=True)[:MAX_AT_ONCE])
    named = request.POST.get("ids", "").split() or request.POST.getlist("memory")
    return list(dict.fromkeys(one for text in named[:MAX_AT_ONCE] if (one := as_uuid(text)) is not None))


def forgotten(request: HttpRequest, person: Person, selection: Selection) -> HttpResponse:
    """Forget memories at one moment, which names them when it is undone."""
    now = SYSTEM_CLOCK.now()
    try:
        done = memories_delete(access=person.access, chosen=selection, clock=DeterministicClock(now))
    except MemoryHubError as error:
        messages.warning(request, words_of(error))
        return HttpResponseRedirect(reverse("webui:known"))
    words = ngettext("One memory is forgotten.", "%(count)s memories are forgotten.", done.deleted)
    messages.success(request, words % {"count": done.deleted})
    return HttpResponseRedirect(f"{reverse('webui:known')}?forgotten={now}")


@require_POST
def known_bring_back(request: HttpRequest, person: Person) -> HttpResponse:
    """Bring back what was forgotten at once."""
    at, back = request.POST.get("at", ""), HttpResponseRedirect(reverse("webui:known"))
    if not (at.isdecimal() and len(at) < MAX_DIGITS):
        messages.warning(request, _("This can no longer be taken back."))
        return back
    done = memories_restore(access=person.access, at=to_datetime(int(at)))
    words = ngettext("One memory is back.", "%(count)s memories are back.", done.restored)
    messages.success(request, words % {"count": done.restored})
    if done.left:
        words = ngettext(
            "One stays forgotten, since the same was saved again.",
            "%(count)s stay forgotten, since the same was saved again.",
            done.left,
        )
        messages.warning(request, words % {"count": done.left})
    return back
