"""The fragment that the palette shows."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from apps.cockpit.pages import render_fragment
from apps.cockpit.palette.sources import find_all
from apps.core.admin.lists import comparable

MAX_CHARS = 200


@require_POST
def palette_results(request: HttpRequest) -> HttpResponse:
    """Return what a text finds; it is posted, so that it is in no address."""
    text = comparable(request.POST.get("q"))[:MAX_CHARS]
    return render_fragment(request, "cockpit/palette_results.html", groups=find_all(request, text), text=text)
