"""Tags of the pages: the navigation, what of the hub does not work, and pictures of people and apps."""

from typing import Any
from zlib import crc32

from django import template
from django.http import HttpRequest
from django.utils.html import format_html

from apps.webui.navigation import PLACES
from apps.webui.person import person_of

register = template.Library()
FACES = 6


@register.inclusion_tag("webui/places.html")
def places(request: HttpRequest) -> dict[str, Any]:
    """Render the places of the web UI; the main ones are the bar on a phone, the others behind *More*."""
    here = request.resolver_match.url_name if request.resolver_match else ""
    # Django imports this module while it still loads the apps whose services the badge asks.
    from apps.webui.clear_up import badge_of

    person = person_of(request)
    further = [place for place in PLACES if not place.is_main]
    is_further = here in {place.name for place in further}
    context = {"places": PLACES, "further": further, "here": here, "is_further": is_further}
    return {**context, **(badge_of(person) if person else {})}


@register.inclusion_tag("webui/home/alarms.html")
def hub_alarms(request: HttpRequest) -> dict[str, Any]:
    """Render what of the hub does not work just now, as far as a person notices it."""
    from apps.webui.home import alarms_part

    return alarms_part(request)


@register.simple_tag
def face(name: str) -> str:
    """Render the picture of a person or an app: the first letter of the name, on a colour that is always the same."""
    return format_html(
        '<span class="face face-{}" aria-hidden="true">{}</span>', crc32(name.encode()) % FACES, name.strip()[:1]
    )
