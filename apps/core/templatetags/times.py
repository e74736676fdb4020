"""Times in templates; every template knows these (settings.TEMPLATES)."""

from datetime import datetime

from django import template
from django.utils.safestring import SafeString

from apps.core.pages.times import ago_tag, moment_tag

register = template.Library()


@register.filter
def moment(at: datetime | None) -> SafeString | str:
    """Render a point in time to the second, with its zone; nothing for none."""
    return moment_tag(at) if at else ""


@register.filter
def ago(at: datetime | None) -> SafeString | str:
    """Render how long ago something was, with its exact time for who points at it; nothing for none."""
    return ago_tag(at) if at else ""
