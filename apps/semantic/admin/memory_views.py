"""Views of the list of memories, as tabs above it."""

from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core.words import Words
from apps.semantic.models import Ingestion, Memory, MemoryStatus

PARAMETER = "view"
# What its writer was this sure of, or less.
WEAK = 0.6
ACTIVE = Q(status=MemoryStatus.ACTIVE)
# Value of the parameter -> title of the tab, and which memories it shows.
VIEWS: dict[str, tuple[Words, Q]] = {
    "active": (_("Active"), ACTIVE),
    "past": (_("No longer current"), ~ACTIVE),
    "weak": (_("Weak"), ACTIVE & Q(base_confidence__lte=WEAK)),
    "timeline": (_("From the timeline"), Q(Exists(Ingestion.objects.filter(memory=OuterRef("pk"))))),
    "managed": (_("Managed"), ~Q(managed_by="")),
}


class ViewFilter(admin.SimpleListFilter):
    """The tab that is open."""

    title, parameter_name = _("view"), PARAMETER

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, str(title)) for name, (title, __) in VIEWS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Memory]) -> QuerySet[Memory]:
        chosen = VIEWS.get(self.value() or "")
        return queryset.filter(chosen[1]) if chosen else queryset


def view_tabs(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the tabs with their query strings; a search goes on in another tab, the page and the order do not."""
    kept = {name: str(value) for name, value in request.GET.items() if name not in {PARAMETER, "p", "o"}}
    present = request.GET.get(PARAMETER, "")
    tabs = []
    for name, title in [("", gettext("All")), *((name, title) for name, (title, __) in VIEWS.items())]:
        query = request.GET.copy()
        query.clear()
        query.update({**kept, **({PARAMETER: name} if name else {})})
        tabs.append({"title": title, "query": query.urlencode(), "is_current": name == present})
    return tabs
