"""Downloading everything: asking for the file, seeing how far it is, taking it, and having it removed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.timezone import get_current_timezone_name
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.audit.services import note_object
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.pages.streams import OwnedIterator, ThreadStreamedResponse
from apps.people.selectors import KEPT, Download, download_of, download_ready, file_of, progress_read
from apps.people.services import download_remove, download_request
from apps.webui.pages import render_fragment
from apps.webui.person import Person

CHUNK_BYTES = 256 * 1024


def shown_download(person: Person) -> dict[str, Any]:
    """Return what the page shows of the download."""
    found = download_of(person.user_id)
    if found is not None and found.until is not None and found.until <= utcnow(SYSTEM_CLOCK):
        found = None
    return {"download": found, "percent": percent_of(found), "kept_days": KEPT.days}


def percent_of(download: Download | None) -> int:
    """Return how far making a file is, in percent; less than 100 until it is there."""
    if download is None or not download.total:
        return 0
    return min(99, 100 * progress_read(download.uuid) // download.total)


def download_state(request: HttpRequest, person: Person) -> HttpResponse:
    """Show again how far the file is."""
    return render_fragment(request, person, "webui/privacy/download.html", **shown_download(person))


def back() -> HttpResponse:
    """Lead to the page."""
    return HttpResponseRedirect(reverse("webui:privacy") + "#download")


@require_POST
def download_ask(request: HttpRequest, person: Person) -> HttpResponse:
    """Have the file made, in the language and the time zone of this page."""
    try:
        asked = download_request(
            user_id=person.user_id, language=get_language() or "en", time_zone=get_current_timezone_name()
        )
    except MemoryHubError as error:
        messages.warning(request, error.detail)
    else:
        note_object("download", asked.uuid, scope=person.scope)
        messages.success(request, _("Your file is being made. You can leave this page."))
    return back()


@require_POST
def download_throw_away(request: HttpRequest, person: Person) -> HttpResponse:
    """Remove the file before its time."""
    download_remove(user_id=person.user_id)
    note_object("download", "", scope=person.scope)
    messages.success(request, _("The file is removed."))
    return back()


def download_file(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponseBase:
    """Send the file. Raises Http404 for one that is not this person's, is not ready or is not kept any more."""
    found = download_ready(person.user_id, uuid)
    if found is None or not file_of(found.uuid).exists():
        raise Http404
    note_object("download", found.uuid, scope=person.scope)
    chunks = OwnedIterator(chunks_of(file_of(found.uuid)), on_end=lambda: None)
    headers = {
        "Content-Disposition": 'attachment; filename="memoryhub.zip"',
        "Content-Length": str(found.size),
        "X-Content-Type-Options": "nosniff",
    }
    return ThreadStreamedResponse(chunks, content_type="application/zip", headers=headers)


def chunks_of(path: Path) -> Iterator[bytes]:
    """Yield a file in parts."""
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
