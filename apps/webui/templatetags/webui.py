"""Tags of the pages: the navigation."""

from typing import Any

from django import template
from django.http import HttpRequest

from apps.webui.navigation import PLACES
from apps.webui.person import person_of

register = template.Library()


@register.inclusion_tag("webui/places.html")
def places(request: HttpRequest) -> dict[str, Any]:
    """Render the places of the web UI; those that are main ones are the bar on a phone."""
    here = request.resolver_match.url_name if request.resolver_match else ""
    # Django imports this module while it still loads the apps whose services the badge asks.
    from apps.webui.clear_up.page import badge_of

    person = person_of(request)
    return {"places": PLACES, "here": here, **(badge_of(person) if person else {})}
