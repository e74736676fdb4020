"""What a browser needs to install the web UI. All of it is public, and nothing of it names a person."""

import hashlib
import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

# The paper of `webui.css` in the light theme; pages name both themes themselves.
PAPER, BAR = "#f8fafc", "#ffffff"
ICONS = (
    ("webui/icons/icon-192.png", "192x192", "image/png", "any"),
    ("webui/icons/icon-512.png", "512x512", "image/png", "any"),
    ("webui/icons/maskable-512.png", "512x512", "image/png", "maskable"),
    ("memoryhub/logo.svg", "any", "image/svg+xml", "any"),
)
# All that the page without a network loads.
OFFLINE_FILES = ("memoryhub/logo.svg", "memoryhub/theme/error.css")


@require_safe
@cache_control(no_cache=True)
@vary_on_headers("Cookie", "Accept-Language")
def manifest(request: HttpRequest) -> HttpResponse:
    """Return what the web UI is called and looks like once it is installed, in the language of the viewer."""
    described: dict[str, Any] = {
        "id": "/",
        "start_url": reverse("webui:home"),
        "scope": "/",
        "name": _("MemoryHub: your memories"),
        "short_name": "MemoryHub",
        "description": _("What your assistants know about you, to read, correct and forget."),
        "lang": get_language() or "en",
        "dir": "auto",
        "display": "standalone",
        "background_color": PAPER,
        "theme_color": BAR,
        "icons": [
            {"src": static(file), "sizes": sizes, "type": kind, "purpose": purpose}
            for file, sizes, kind, purpose in ICONS
        ],
    }
    return HttpResponse(json.dumps(described, ensure_ascii=False), content_type="application/manifest+json")


@require_safe
@cache_control(no_cache=True)
def service_worker(request: HttpRequest) -> HttpResponse:
    """Return the script that shows the page without a network. It is another one when that page or its files are."""
    kept = [reverse("webui:offline"), *(static(file) for file in OFFLINE_FILES)]
    page = render_to_string("webui/offline.html")
    version = hashlib.sha256("\n".join([page, *kept]).encode()).hexdigest()[:16]
    context = {"kept": json.dumps(kept), "cache": json.dumps(f"offline-{version}")}
    script = render_to_string("webui/service-worker.js", context)
    return HttpResponse(script, content_type="text/javascript; charset=utf-8")


@require_safe
@cache_control(no_cache=True)
@vary_on_headers("Cookie", "Accept-Language")
def offline(request: HttpRequest) -> HttpResponse:
    """Show that the hub cannot be reached: what an installed app has where there is no network."""
    return HttpResponse(render_to_string("webui/offline.html"))
