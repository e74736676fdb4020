"""How far the forgetting is, and its receipt: for those who have its address, since the account may be gone by then.

It holds counts and moments, and neither a name nor a content.
"""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.people.selectors import Erasure, own_erasure, plan_of_uuid
from apps.people.services import erasure_preview
from apps.webui.privacy.words import store_counts


def forgotten_page(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Show when a forgetting begins, how far it is, or what it removed. Raises Http404."""
    plan, erasure = plan_of_uuid(uuid), own_erasure(uuid)
    if plan is None and erasure is None:
        raise Http404
    context: dict[str, Any] = {"plan": plan, "erasure": erasure, "uuid": uuid, "now": utcnow(SYSTEM_CLOCK)}
    if erasure is not None:
        context |= counts_of(erasure)
    is_part = bool(request.headers.get("HX-Request"))
    return TemplateResponse(request, f"webui/privacy/{'progress' if is_part else 'forgotten'}.html", context)


def counts_of(erasure: Erasure) -> dict[str, Any]:
    """Return what an erasure has removed, and how much of all that was there."""
    left = erasure_preview(erasure.user_id) if erasure.is_open else {}
    stores = store_counts(erasure.found, left)
    found, gone = sum(store.count for store in stores), sum(store.gone for store in stores)
    return {"stores": stores, "found": found, "percent": 100 * gone // found if found else 0}
