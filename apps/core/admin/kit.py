"""Shared parts of the admin pages of all apps: read-only models, badges, times, confirmations."""

import json
from collections.abc import Callable, Iterable
from datetime import datetime
from decimal import ROUND_UP, Decimal
from typing import Any, TypeVar
from uuid import UUID

from django.contrib import messages
from django.contrib.admin import helpers
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from unfold.decorators import display

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Access, system_access

NOTHING = "-"
CONFIRMED = "confirmed"
CENT, SMALLEST = Decimal("0.01"), Decimal("0.000001")
Found = TypeVar("Found", bound=Model)


class ReadOnly:
    """No adding, changing or deleting in the admin: only `services` write."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def moment(value: datetime | None) -> str:
    """Format a time to the second, in the admin's time zone; a dash for none."""
    return date_format(localtime(value), "Y-m-d H:i:s") if value else NOTHING


def moment_field(name: str, description: str) -> Callable[[Any, Any], str]:
    """Return a read-only field of an admin page that shows a time of the object."""

    @display(description=description)
    def show(self: Any, obj: Any) -> str:
        return moment(getattr(obj, name))

    column: Callable[[Any, Any], str] = show
    return column


def badge(label: str, colour: str | None = None) -> str:
    """Render the theme's badge, for pages; in lists its `display` decorator does."""
    return render_to_string("unfold/helpers/label.html", {"text": label, "type": colour})


def pretty_json(document: object) -> SafeString:
    """Render JSON for people."""
    return preformatted(json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True))


def preformatted(text: str) -> SafeString:
    """Render text in which every space counts."""
    return format_html('<pre class="mh-json" tabindex="0">{}</pre>', text)


def excerpt(text: str) -> SafeString:
    """Render two lines of a text, for lists."""
    return format_html('<span class="mh-excerpt" title="{0}">{0}</span>', text)


def plain_text(text: str) -> SafeString | str:
    """Render text with its own line breaks; a dash for none."""
    return format_html('<div class="mh-text">{}</div>', text) if text else NOTHING


def two_lines(first: str, second: str) -> SafeString:
    """Render a cell of a list: the main text, and below it, smaller, the second one."""
    lines = '<span class="mh-lines"><span class="mh-cell" title="{0}">{0}</span><span class="mh-sub">{1}</span></span>'
    return format_html(lines, first, second)


def link(name: str, pk: Any, text: str) -> SafeString:
    """Render a link to the page of an object. name: of the address, such as `admin:events_event_change`."""
    return format_html('<a class="mh-link" href="{}">{}</a>', reverse(name, args=[pk]), text)


def operator_access(request: HttpRequest) -> Access:
    """Return the access of a user of the admin: everything, under the name that the records keep."""
    return system_access(f"admin:{request.user.get_username()}")


def for_each(
    request: HttpRequest, uuids: Iterable[UUID], service: Callable[..., Any], *, noun: tuple[str, str], done: str
) -> None:
    """Apply a service to each id; a refusal is shown with its reason. noun: for one, and for several."""
    count = 0
    for uuid in uuids:
        try:
            service(access=operator_access(request), uuid=uuid)
            count += 1
        except MemoryHubError as error:
            messages.warning(request, f"{uuid}: {error.detail}")
    if count:
        messages.success(request, f"{count} {noun[count != 1]} {done}.")


def filesize(size: int) -> str:
    """Format a number of bytes, in binary units."""
    value, units = float(size), ("bytes", "KB", "MB", "GB", "TB")
    for unit in units[:-1]:
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "bytes" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} {units[-1]}"


def dollars(amount: Decimal | None) -> str:
    """Return US dollars to the cent, and small amounts to the millionth, never rounded down; for None, `unknown`."""
    if amount is None:
        return "unknown"
    if amount == 0 or amount >= 1:
        return f"${amount.quantize(CENT, ROUND_UP):,}"
    shown = f"{amount.quantize(SMALLEST, ROUND_UP):f}".rstrip("0")
    return f"${shown}{'0' * max(0, 4 - len(shown))}"


def short_duration(milliseconds: float) -> str:
    """Return a duration in three digits or so."""
    if milliseconds < 1_000:
        return f"{milliseconds:,.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"
    return f"{milliseconds / 1_000:,.1f} s"


def confirmation(
    request: HttpRequest, model_admin: Any, chosen: Iterable[Model], **words: str
) -> TemplateResponse | None:
    """Return a page that asks before an action that cannot be undone; None once it was confirmed.

    words: `title`, `question`, `button`. The name of the action is taken from the request.
    """
    if request.POST.get(CONFIRMED):
        return None
    context = {
        **model_admin.admin_site.each_context(request),
        **words,
        "opts": model_admin.model._meta,
        "media": model_admin.media,
        "chosen": list(chosen),
        "action": request.POST["action"],
        "action_checkbox_name": helpers.ACTION_CHECKBOX_NAME,
        "confirmed_name": CONFIRMED,
    }
    return TemplateResponse(request, "admin/confirm_action.html", context)


def found_or_404(found: Found | None) -> Found:
    """Return the object of a page's action. Raises Http404 where there is none."""
    if found is None:
        raise Http404
    return found


def after_dialog(request: HttpRequest, url: str) -> HttpResponse:
    """Redirect to a page after the form of a dialog was sent; htmx needs a header for that."""
    if request.headers.get("HX-Request"):
        return HttpResponse(headers={"HX-Redirect": url})
    return HttpResponseRedirect(url)
