"""The download of all that there is of a person."""

from functools import partial
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_POST

from apps.audit.services import note_object
from apps.cockpit.people.pages import asked_person
from apps.core.admin.kit import operator_access
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Scope
from apps.core.pages.streams import OwnedIterator, ThreadStreamedResponse
from apps.core.personal.export import encode_chunks, export_lines, permitted_export
from apps.core.personal.store import ExportRequest
from apps.core.rest.export import MEDIA_TYPE, export_places


@require_POST
def person_export(request: HttpRequest) -> HttpResponseBase:
    """Send all that the hub keeps of a person, as the viewer may see it, while it is read."""
    user_id, access = asked_person(request, request.POST), operator_access(request)
    asked = ExportRequest(Scope(user_id))
    note_object("person", user_id, scope=asked.scope)
    try:
        permitted, place = permitted_export(access, asked), access.actor
        export_places.take(place)
    except MemoryHubError as error:
        return HttpResponse(error.detail, status=503, content_type="text/plain; charset=utf-8")
    chunks = OwnedIterator(encode_chunks(export_lines(asked, permitted)), on_end=partial(export_places.release, place))
    name = quote(f"memoryhub-{user_id}.jsonl", safe="")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}", "Cache-Control": "no-store"}
    return ThreadStreamedResponse(chunks, content_type=MEDIA_TYPE, headers=headers)
