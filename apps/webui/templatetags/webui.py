"""Tags of the pages: the navigation."""

from typing import Any

from django import template
from django.http import HttpRequest

from apps.webui.navigation import PLACES

register = template.Library()


@register.inclusion_tag("webui/places.html")
def places(request: HttpRequest) -> dict[str, Any]:
    """Render the places of the web UI; those that are main ones are the bar on a phone."""
    here = request.resolver_match.url_name if request.resolver_match else ""
    return {"places": PLACES, "here": here}
