"""Who looks at which decision now, for those who may see that decision."""

from collections import defaultdict
from datetime import timedelta

from django.db import models
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_POST

from apps.cockpit.decisions.shown import as_key
from apps.cockpit.models import Presence
from apps.core.admin.kit import operator_access
from apps.semantic.services import visible_keys

# Without a sign for so long, an account looks at nothing any more.
EXPIRY = timedelta(seconds=20)
MAX_SHOWN = 50


@require_POST
def decisions_presence(request: HttpRequest) -> HttpResponse:
    """Note what the viewer looks at, and answer who else looks at what: names by the key of the decision."""
    access, key, viewer = operator_access(request), as_key(request.POST.get("receipt")), request.user.pk
    assert viewer is not None  # the admin lets in only those who have signed in
    if key is not None and key in visible_keys(access, [key]):
        Presence.objects.bulk_create(
            [Presence(login_id=viewer, receipt=key, seen_at=Now())],
            update_conflicts=True,
            unique_fields=["login"],
            update_fields=["receipt", "seen_at"],
        )
    else:
        Presence.objects.filter(login=viewer).delete()
    recent = Presence.objects.filter(seen_at__gt=models.ExpressionWrapper(Now() - EXPIRY, models.DateTimeField()))
    others = list(recent.exclude(login=viewer).select_related("login").order_by("-seen_at")[:MAX_SHOWN])
    visible = visible_keys(access, [one.receipt for one in others])
    names: dict[str, list[str]] = defaultdict(list)
    for one in others:
        if one.receipt in visible:
            names[str(one.receipt)].append(one.login.get_username())
    return JsonResponse({"lookers": names}, headers={"Cache-Control": "no-store"})
