"""The page *Audit*: who did what to which object, with filters and a download."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import NoReverseMatch, reverse
from django.utils.timezone import get_current_timezone, localtime
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.audit import selectors
from apps.audit.domain.csv import csv_line
from apps.audit.selectors import ActorKind, AuditEntry, EntryFilter, EntryPage, PageStart
from apps.cockpit.domain.activity import GROUP_SPAN
from apps.cockpit.pages import render_page
from apps.core.admin.kit import operator_access, scope_in_words
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, Scope
from apps.core.domain.zones import start_of
from apps.core.pages.streams import OwnedIterator, ThreadStreamedResponse
from apps.core.pauses import PERSON

EPOCH, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
PLACE = re.compile(r"(older|newer)-(\d{1,17})-(\d{1,18})")
OUTCOMES = (("done", _("Done")), ("refused", _("Refused")), ("failed", _("Failed")))
# As the list says them.
OUTCOME_WORDS = {"done": _("done"), "refused": _("refused"), "failed": _("failed")}
TONES = {"done": "success", "refused": "warning", "failed": "danger"}
CSV_COLUMNS = (
    "at", "actor_kind", "actor", "action", "outcome", "object_type", "object_id", "user_id", "household_id",
    "persona_id", "address", "request_id", "detail",
)  # fmt: skip
ROWS_AT_ONCE = 500


class AuditFilterForm(forms.Form):
    """What the list is narrowed by. Days are those of the admin's time zone."""

    words = forms.CharField(required=False, max_length=200, label=_("Search"))
    actor = forms.CharField(required=False, max_length=200, label=_("Who"))
    kind = forms.ChoiceField(
        required=False,
        choices=[("", _("Anybody")), *((kind.value, _(kind.label)) for kind in ActorKind)],
        label=_("Kind"),
    )
    action = forms.CharField(required=False, max_length=100, label=_("Act"))
    outcome = forms.ChoiceField(required=False, choices=[("", _("Any")), *OUTCOMES], label=_("Outcome"))
    user_id = forms.CharField(required=False, max_length=MAX_IDENTIFIER_CHARS, label=_("About the user"))
    object_type = forms.CharField(required=False, max_length=100, label=_("Kind of object"))
    object_id = forms.CharField(required=False, max_length=200, label=_("Object"))
    since = forms.DateField(required=False, label=_("From"))
    until = forms.DateField(required=False, label=_("To"))

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        since, until = data.get("since"), data.get("until")
        if since and until and since > until:
            raise ValidationError(gettext("The first day is after the last one."))
        return data

    def chosen(self) -> EntryFilter:
        """Return the filter; a field that cannot be read does not narrow."""
        self.is_valid()
        data = {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}
        since, until, zone = data.pop("since", None), data.pop("until", None), get_current_timezone()
        return EntryFilter(
            **data,
            since=start_of(since, zone) if since else None,
            until=start_of(until + timedelta(days=1), zone) if until and until < date.max else None,
        )

    def query(self, **more: str) -> str:
        """Return the filter as a query string, with further parameters."""
        given = {name: value for name in self.fields if (value := str(self.data.get(name, "")).strip())}
        return urlencode(given | more)


def audit_page(request: HttpRequest) -> HttpResponse:
    """Show the entries that the viewer may see."""
    return render_page(request, "cockpit/audit.html", gettext("Audit"), **list_context(request))


def audit_csv(request: HttpRequest) -> HttpResponseBase:
    """Send the entries of a filter as a file, made while it is sent."""
    rows = selectors.entries(operator_access(request), AuditFilterForm(request.GET).chosen())
    headers = {"Content-Disposition": 'attachment; filename="audit.csv"', "Cache-Control": "no-store"}
    chunks = OwnedIterator(csv_chunks(rows.iterator(ROWS_AT_ONCE)), on_end=lambda: None)
    return ThreadStreamedResponse(chunks, content_type="text/csv; charset=utf-8", headers=headers)


def csv_chunks(entries: Iterator[AuditEntry]) -> Iterator[bytes]:
    """Yield the lines of the file, some hundred at once."""
    lines = [csv_line(CSV_COLUMNS)]
    for entry in entries:
        values = {name: getattr(entry, name) for name in CSV_COLUMNS}
        values |= {"at": entry.at.isoformat(), "detail": json.dumps(entry.detail, ensure_ascii=False)}
        lines.append(csv_line(values[name] for name in CSV_COLUMNS))
        if len(lines) >= ROWS_AT_ONCE:
            yield b"".join(lines)
            lines = []
    yield b"".join(lines)


def list_context(request: HttpRequest) -> dict[str, Any]:
    """Return the page of the list that a request names."""
    form = AuditFilterForm(request.GET)
    asked, place = form.chosen(), read_place(request.GET.get("place", ""))
    page: EntryPage = selectors.entries_page(operator_access(request), asked, place)
    edges = (page.entries[0], page.entries[-1]) if page.entries else (None, None)
    return {
        "form": form,
        "rows": [row_of(request, entries) for entries in grouped(page.entries)],
        "is_narrowed": asked != EntryFilter(),
        "is_first": place is None,
        "newer": form.query(place=write_place("newer", edges[0])) if page.has_newer and edges[0] else "",
        "older": form.query(place=write_place("older", edges[1])) if page.has_older and edges[1] else "",
        "query": form.query(),
        "zone": str(get_current_timezone()),
        "now": localtime(),
    }


def row_of(request: HttpRequest, entries: list[AuditEntry]) -> dict[str, Any]:
    """Return equal entries as the list shows them, by the latest one.

    objects: what was acted upon, and its page, empty without one.
    """
    entry = entries[0]
    changes = entry.detail.get("changes")
    whose = Scope(entry.user_id or None, entry.household_id or None, entry.persona_id or None)
    facts = [
        (gettext("Whose data"), scope_in_words(whose)),
        (gettext("Act"), entry.action),
        (gettext("Object"), f"{entry.object_type} {entry.object_id}".strip()),
        (gettext("From"), entry.address or ""),
        (gettext("Request"), entry.request_id),
        (gettext("Key"), str(entry.detail.get("key", ""))),
        (gettext("Options"), " ".join(map(str, entry.detail.get("options", ())))),
    ]
    return {
        "entry": entry,
        "at": localtime(entry.at),
        "actor": entry.actor.removeprefix(PERSON),
        "words": selectors.sentence(entry.action, len(entries)),
        "objects": [(about, link_of(request, one)) for one in entries if (about := about_of(one))],
        "outcome": OUTCOME_WORDS.get(entry.outcome, entry.outcome),
        "tone": TONES.get(entry.outcome, ""),
        "changes": [(name, *pair) for name, pair in changes.items()] if isinstance(changes, dict) else [],
        "said": str(entry.detail.get("said", "")),
        "facts": [(name, value) for name, value in facts if value],
    }


def about_of(entry: AuditEntry) -> str:
    """Return what was acted upon: its name, else its id. Who signs in acts upon themselves."""
    if entry.action.startswith("session."):
        return ""
    key = entry.object_id
    return str(entry.detail.get("name") or (f"#{key}" if key.isdecimal() else key))


def grouped(entries: list[AuditEntry]) -> Iterator[list[AuditEntry]]:
    """Yield the entries that are one row: equal acts of one actor about one person, each soon after the other.

    Entries that say more than that something was done are rows of their own.
    """
    held: list[AuditEntry] = []
    for entry in entries:
        if held and not (is_plain(entry) and is_plain(held[-1]) and is_alike(held[-1], entry)):
            yield held
            held = []
        held.append(entry)
    if held:
        yield held


def is_plain(entry: AuditEntry) -> bool:
    """Return whether an entry says no more than that something was done."""
    return selectors.is_known(entry.action) and not entry.detail.keys() & {"changes", "said", "reason", "options"}


def is_alike(later: AuditEntry, earlier: AuditEntry) -> bool:
    """Return whether two entries, the later one first, are the same act."""
    names = ("actor_kind", "actor", "address", "action", "outcome", "user_id", "household_id", "persona_id")
    is_same = all(getattr(later, name) == getattr(earlier, name) for name in names)
    return is_same and later.at - earlier.at <= GROUP_SPAN


def link_of(request: HttpRequest, entry: AuditEntry) -> str:
    """Return the page of the object in the admin; empty where there is none that the viewer may see."""
    app, _, model = entry.object_type.partition(".")
    if not model or not entry.object_id or not request.user.has_perm(f"{app}.view_{model}"):
        return ""
    try:
        return reverse(f"admin:{app}_{model}_change", args=[entry.object_id])
    except NoReverseMatch:
        return ""


def read_place(text: str) -> PageStart | None:
    """Return where a page begins; None for the first one, and for what cannot be read."""
    found = PLACE.fullmatch(text)
    if found is None:
        return None
    try:
        return PageStart(found[1], EPOCH + int(found[2]) * MICROSECOND, int(found[3]))
    except OverflowError:
        return None


def write_place(direction: str, entry: AuditEntry) -> str:
    """Return where the next page begins."""
    return f"{direction}-{(entry.at - EPOCH) // MICROSECOND}-{entry.pk}"
