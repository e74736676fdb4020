"""Tags of the pages: the navigation, and times as people say them."""

from datetime import datetime, timedelta
from typing import Any

from django import template
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timesince import timesince
from django.utils.timezone import localtime, now
from django.utils.translation import gettext as _

from apps.webui.navigation import PLACES

register = template.Library()


@register.inclusion_tag("webui/places.html")
def places(request: HttpRequest) -> dict[str, Any]:
    """Render the places of the web UI; those that are main ones are the bar on a phone."""
    here = request.resolver_match.url_name if request.resolver_match else ""
    return {"places": PLACES, "here": here}


@register.simple_tag
def ago(moment: datetime) -> SafeString:
    """Render how long ago something was, with its exact time and zone for who points at it."""
    local = localtime(moment)
    is_recent = now() - moment < timedelta(minutes=1)
    words = _("just now") if is_recent else _("%(time)s ago") % {"time": timesince(local, depth=1)}
    exact = f"{local:%Y-%m-%d %H:%M %Z}"
    return format_html('<time datetime="{}" title="{}">{}</time>', local.isoformat(), exact, words)
