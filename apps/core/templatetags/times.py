"""Times in templates; every template knows these (settings.TEMPLATES)."""

from datetime import datetime

from django import template
from django.utils.safestring import SafeString

from apps.core.pages.times import ago_tag, moment_tag, time_tag, to_the_minute

register = template.Library()


@register.filter
def moment(at: datetime | None) -> SafeString | str:
    """Render a point in time to the second, with its zone; nothing for none."""
    return moment_tag(at) if at else ""


@register.filter
def ago(at: datetime | None) -> SafeString | str:
    """Render how long ago something was, with its exact time for who points at it; nothing for none."""
    return ago_tag(at) if at else ""


@register.filter
def minute(at: datetime | None) -> SafeString | str:
    """Render a point in time to the minute, as people write it; nothing for none."""
    return time_tag(at, to_the_minute(at)) if at else ""
