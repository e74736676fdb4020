"""What the queue of decisions shows: its filter in the address, its tabs with counts, and the filters people save."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from apps.core.admin.kit import operator_access
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS
from apps.core.words import Words
from apps.semantic import services
from apps.semantic.domain.review_queue import QueueFilter, QueueView

PARAMETERS = {"view": "view", "rule": "rule", "q": "words", "user": "user_id", "household": "household_id"}
TITLES = {
    QueueView.ASKED: _("To decide"),
    QueueView.NOTICED: _("Noticed"),
    QueueView.WEAK: _("Not certain"),
    QueueView.LOG: _("Log"),
    QueueView.MERGED: _("Merged"),
    QueueView.MINE: _("Mine"),
}
SESSION_KEY = "decision_views"
MAX_SAVED, MAX_NAME_CHARS = 8, 40
# More open decisions of a saved filter are not counted on every page.
MAX_COUNTED = 1_000


@dataclass(frozen=True)
class Tab:
    """A view in the row of tabs. count: None where counting would cost too much; `1000+` for more than that."""

    title: Words
    url: str
    count: str | None
    is_current: bool
    saved: str = ""


def read_filter(data: Any) -> QueueFilter:
    """Return the filter that a query string or a form says; what it cannot mean is left out."""
    values = {field: clean(data.get(name, "")) for name, field in PARAMETERS.items()}
    chosen = values.pop("view")
    view = QueueView(chosen) if chosen in TITLES else QueueView.ASKED
    return QueueFilter(view=view, **values)


def clean(value: Any) -> str:
    """Return text that a database can compare, of the length of an identifier at most."""
    return str(value).replace("\x00", "").strip()[:MAX_IDENTIFIER_CHARS]


def query_of(wanted: QueueFilter) -> dict[str, str]:
    """Return a filter as the parameters of an address, without those that filter nothing."""
    values = {name: str(getattr(wanted, field)) for name, field in PARAMETERS.items()}
    return {name: value for name, value in values.items() if value and (name, value) != ("view", QueueView.ASKED)}


def address_of(wanted: QueueFilter, name: str = "cockpit_decisions") -> str:
    """Return the address of the page, or of the fragment of a name, that shows what a filter means."""
    query = query_of(wanted)
    return f"{reverse(name)}{f'?{urlencode(query)}' if query else ''}"


def tabs_of(request: HttpRequest, wanted: QueueFilter) -> dict[str, list[Tab]]:
    """Return the tabs of the views, of the rules, and of the filters that the person saved.

    Those of rules lead to what waits, with counts; in the log, to what each rule decided.
    """
    access = operator_access(request)
    counts = services.queue_counts(access)

    def tab(title: Words, of: QueueFilter, count: int | None, at_most: int, saved: str = "") -> Tab:
        shown = None if count is None else f"{at_most}+" if count >= at_most else str(count)
        return Tab(title, address_of(of), shown, of == wanted, saved)

    views = [
        tab(title, QueueFilter(view=view), counts.views.get(view), services.MAX_COUNTED)
        for view, title in TITLES.items()
    ]
    in_log = wanted.view in {QueueView.LOG, QueueView.MERGED}
    of_rules = dict.fromkeys(one.name for one in services.decided_rules(access) if one.name) if in_log else counts.rules
    view = wanted.view if in_log else QueueView.ASKED
    rules = [
        tab(rule, QueueFilter(view=view, rule=rule), count, services.MAX_COUNTED) for rule, count in of_rules.items()
    ]
    saved = []
    for name, query in saved_views(request).items():
        own = read_filter(query)
        count = None if own.words else services.queue_count(access, own, MAX_COUNTED)
        saved.append(tab(name, own, count, MAX_COUNTED, name))
    return {"views": views, "rules": rules, "saved": saved}


def saved_views(request: HttpRequest) -> dict[str, dict[str, str]]:
    """Return the filters that the person saved in this session, by name."""
    found: dict[str, dict[str, str]] = request.session.get(SESSION_KEY, {})
    return found


def save_view(request: HttpRequest, name: str, wanted: QueueFilter) -> bool:
    """Save a filter under a name, in place of one with this name. Return whether there was room."""
    views = saved_views(request)
    if name not in views and len(views) >= MAX_SAVED:
        return False
    request.session[SESSION_KEY] = {**views, name: query_of(wanted)}
    return True


def drop_view(request: HttpRequest, name: str) -> None:
    """Remove a saved filter."""
    request.session[SESSION_KEY] = {one: query for one, query in saved_views(request).items() if one != name}
