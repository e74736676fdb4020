"""What the frame of every admin page says: its name, and the list that it belongs to.

Tags are loaded before the pages of the admin, of which they import what they need when they run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Any

from django import template
from django.contrib import admin
from django.db.models import Model
from django.template.context import RequestContext
from django.urls import reverse
from django.utils.html import strip_tags
from django.utils.text import capfirst
from django.utils.translation import gettext

register = template.Library()

HEADING = re.compile(r"<h1\b[^>]*>(.*?)</h1>", re.DOTALL)


@register.filter
def heading(html: str) -> str:
    """Return the words of the first h1 of a page, which are its title in the browser as well."""
    found = HEADING.search(html)
    return " ".join(unescape(strip_tags(found[1])).split()) if found else ""


@register.simple_tag(takes_context=True)
def page_name(context: RequestContext) -> str:
    """Return the name of a page: the object's, the list's as the navigation has it, or the title that its view set."""
    from memoryhub.admin import names

    title = str(context.get("title") or "")
    shown = context.get("cl")
    if shown is not None and hasattr(shown, "model"):
        return list_name(shown.model) if title == str(shown.title) else title
    found = context.get("original") or context.get("object")
    if not isinstance(found, Model):
        return capfirst(title)
    name = names.object_name(context["request"].user, found)
    has_name = found._meta.label_lower in names.NAMES
    if context.get("adminform") is not None and (context.get("subtitle") or has_name):
        return name
    if title in {gettext("Delete"), gettext("Are you sure?")}:
        return gettext("Delete %(name)s?") % {"name": name}
    return capfirst(title.replace(str(found), name))


@register.inclusion_tag("cockpit/now/alarms.html", takes_context=True)
def alarms(context: RequestContext) -> Mapping[str, Any]:
    """Render what is critical; nothing on *Now*, which shows it in full, and for visitors."""
    from apps.cockpit.selectors import alarms_part

    request = context.get("request")
    match = getattr(request, "resolver_match", None)
    if request is None or (match is not None and match.url_name in {"index", "cockpit_now"}):
        return {}
    return {**alarms_part(request), "csrf_token": context.get("csrf_token")}


def list_name(model: type[Model]) -> str:
    """Return the name of the list of a model, as the navigation has it."""
    from memoryhub.admin.navigation import LIST_NAMES

    return str(LIST_NAMES.get(model._meta.label_lower, "")) or capfirst(str(model._meta.verbose_name_plural))


@register.simple_tag(takes_context=True)
def page_list(context: RequestContext) -> Mapping[str, str] | None:
    """Return title and address of the list that a page belongs to, where there is one that the viewer may see."""
    from apps.core.admin.kit import may_view

    opts = context.get("opts")
    if opts is None or context.get("cl") is not None or opts.model not in admin.site._registry:
        return None
    if not may_view(context["request"], opts.label_lower):
        return None
    address = reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist")
    return {"title": list_name(opts.model), "link": address}
