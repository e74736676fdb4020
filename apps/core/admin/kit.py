"""Shared parts of the admin pages of all apps: read-only models, columns, badges, times, differences, confirmations."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import ROUND_UP, Decimal
from typing import Any, ClassVar, NamedTuple, TypeVar, cast
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.admin import helpers
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from apps.core.bounds import is_bound
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Access, Scope, system_access
from apps.core.pages.sayings import say
from apps.core.pages.texts import TOOLTIP_CHARS, cut, long_text
from apps.core.pages.times import exact, moment_tag
from apps.core.words import Counted, Words

NOTHING = "-"
CONFIRMED = "confirmed"
CENT, SMALLEST = Decimal("0.01"), Decimal("0.000001")
Found = TypeVar("Found", bound=Model)
# A method of an admin that returns the cell of an object.
Column = Callable[[Any, Any], Any]
# What a scope names, by its parts.
PARTS_OF_SCOPE = {"user_id": _("user %(id)s"), "household_id": _("household %(id)s"), "persona_id": _("persona %(id)s")}
_CLASSES = {"+": "mh-diff-added", "-": "mh-diff-removed", "@": "mh-diff-hunk"}


class ReadOnly:
    """No adding, changing or deleting in the admin: only `services` write."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class NamedSettings:
    """An admin of settings whose name is fixed after their creation. status_fieldset: of existing ones only."""

    settings_fieldsets: ClassVar[list[Any]]
    status_fieldset: ClassVar[Any]
    readonly_fields: Any

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> list[Any]:
        return [*self.settings_fieldsets, self.status_fieldset] if obj else self.settings_fieldsets

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return ["name", *self.readonly_fields] if obj else self.readonly_fields


def required_permission(permission: str) -> Callable[..., bool]:
    """Return a method `has_..._permission` of an admin for users with a permission such as `core.change_apikey`."""

    def has_permission(self: Any, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm(permission)

    return has_permission


def moment(value: datetime | None) -> str:
    """Format a time to the second, with its zone; a dash for none."""
    return exact(value) if value else NOTHING


class Colours(dict[Any, str | None]):
    """Colours of badges; a value without one is a grey badge, and keeps its words."""

    def __missing__(self, value: Any) -> None:
        return None


def column(
    description: Words,
    show: Callable[[Any], Any],
    *,
    ordering: str | None = None,
    colours: Mapping[Any, str | None] | None = None,
) -> Column:
    """Return a column of a list, or a read-only field of a page, for use as a class attribute of an admin.

    show: makes the cell from the object. colours: the colour of each value, which a list then shows as a badge.
    """

    @display(description=description, ordering=ordering, label=None if colours is None else Colours(colours))
    def cell(self: Any, obj: Any) -> Any:
        return show(obj)

    made: Column = cell
    return made


def moment_column(name: str, description: Words, *, ordering: str | None = None) -> Column:
    """Return a column that shows a time of the object."""

    def show(obj: Any) -> SafeString | str:
        at = getattr(obj, name)
        return NOTHING if at is None else moment_tag(at)

    return column(description, show, ordering=ordering)


def text_column(name: str, description: Words) -> Column:
    """Return a column that shows text of the object with its line breaks."""
    return column(description, lambda obj: plain_text(getattr(obj, name)))


def json_column(name: str, description: Words) -> Column:
    """Return a column that shows a JSON document of the object; a dash for an empty one."""
    return column(description, lambda obj: pretty_json(getattr(obj, name)) if getattr(obj, name) else NOTHING)


def badge_column(
    name: str, description: Words, colours: Mapping[str, str | None], *, ordering: str | None = None
) -> Column:
    """Return a column of a list that shows a choice of the object as a badge. colours: by stored value, for all."""
    return column(
        description,
        lambda obj: (getattr(obj, name), getattr(obj, f"get_{name}_display")()),
        ordering=ordering or name,
        colours=colours,
    )


def state_columns(
    state_of: Callable[[Any], Any],
    words: Mapping[Any, Words],
    colours: Mapping[Any, str | None],
    *,
    ordering: str | None = None,
) -> tuple[Column, Column]:
    """Return a column of a list, and a field of a page, that show a computed state as a badge."""

    def label(obj: Any) -> str:
        state = state_of(obj)
        return badge(str(words[state]), colours[state])

    def cell(obj: Any) -> tuple[Any, Words]:
        state = state_of(obj)
        return state, words[state]

    return column(_("State"), cell, ordering=ordering, colours=colours), column(_("State"), label)


def scope_column() -> Column:
    """Return a column that shows the user, and below it household and persona."""
    return column(
        _("Whose"),
        lambda obj: two_lines(obj.user_id, " / ".join(filter(None, (obj.household_id, obj.persona_id)))),
        ordering="user_id",
    )


def link_column(name: str, description: Words, page: str, text: Callable[[Any], str] = str) -> Column:
    """Return a column with a link to the object, or the id, that an attribute holds; a dash for none."""

    def show(obj: Any) -> SafeString | str:
        target = getattr(obj, name)
        return NOTHING if target is None else link(page, getattr(target, "pk", target), text(target))

    return column(description, show)


def badge(label: str, colour: str | None = None) -> str:
    """Render the theme's badge, for pages; in lists its `display` decorator does."""
    return render_to_string("unfold/helpers/label.html", {"text": label, "type": colour})


def choice_badge(obj: Any, name: str, colours: Mapping[str, str | None]) -> str:
    """Render a choice of an object as a badge, for pages. colours: by stored value."""
    return badge(getattr(obj, f"get_{name}_display")(), colours.get(getattr(obj, name)))


def pretty_json(document: object) -> SafeString:
    """Render JSON for people."""
    return preformatted(json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True))


def preformatted(text: str) -> SafeString:
    """Render text in which every space counts."""
    return long_text(text, "mh-json", "pre")


def excerpt(text: str) -> SafeString:
    """Render two lines of a text, for lists."""
    return format_html('<span class="mh-excerpt" title="{0}">{0}</span>', cut(text, TOOLTIP_CHARS))


def plain_text(text: str) -> SafeString | str:
    """Render text with its own line breaks; a dash for none."""
    return long_text(text) if text else NOTHING


def two_lines(first: str, second: str) -> SafeString:
    """Render a cell of a list: the main text, and below it, smaller, the second one."""
    lines = '<span class="mh-lines"><span class="mh-cell" title="{0}">{0}</span><span class="mh-sub">{1}</span></span>'
    return format_html(lines, cut(first, TOOLTIP_CHARS), second)


def stacked(first: str, second: str) -> SafeString:
    """Render a cell of a list: a badge or a link, and below it, smaller, a text."""
    return format_html('{}<span class="mh-sub">{}</span>', first, second)


def monospace(text: object) -> SafeString:
    """Render an id or a hash."""
    return format_html('<span class="mh-mono">{}</span>', text)


def link(name: str, pk: Any, text: str) -> SafeString:
    """Render a link to the page of an object. name: of the address, such as `admin:events_event_change`."""
    return format_html('<a class="mh-link" href="{}">{}</a>', reverse(name, args=[pk]), text)


def tile(icon: str, label: str, value: int, note: str, tone: str = "", link: str = "") -> dict[str, Any]:
    """Return a figure at the top of a page."""
    return {"icon": icon, "label": label, "value": f"{value:,}", "note": note, "tone": tone, "link": link}


def list_link(name: str, text: object, **query: Any) -> SafeString:
    """Render a link to a list that `query` narrows. name: of the address, such as `admin:events_event_changelist`."""
    return format_html('<a class="mh-link" href="{}?{}">{}</a>', reverse(name), urlencode(query), text)


def scope_in_words(scope: Scope) -> str:
    """Return what a scope names, such as `user ana, household oak`; blank for none."""
    return ", ".join(str(PARTS_OF_SCOPE[name]) % {"id": value} for name, value in scope.named().items())


def operator_access(request: HttpRequest) -> Access:
    """Return the access of a user of the admin, under the name that the records keep.

    It is everything, unless the account has a bound (`apps.accounts.models.Account`): then that of a key with it.
    """
    actor = f"admin:{request.user.get_username()}"
    if not is_bound(request.user):
        return system_access(actor, WriteOrigin.PERSON, makes_ties=True)
    access: Access = cast("Any", request.user).account.access(actor)
    return access


def may_view(request: HttpRequest, model: str) -> bool:
    """Return whether the viewer may view or change a model, written as `app.model`."""
    app, name = model.split(".")
    user = request.user
    return user.has_perm(f"{app}.view_{name}") or user.has_perm(f"{app}.change_{name}")


def for_each(request: HttpRequest, uuids: Iterable[UUID], service: Callable[..., Any], *, said: Counted) -> None:
    """Apply a service to each id; a refusal is shown with its reason. said: what was done, for a `count` of them."""
    count = 0
    for uuid in uuids:
        try:
            service(access=operator_access(request), uuid=uuid)
            count += 1
        except MemoryHubError as error:
            messages.warning(request, f"{uuid}: {say(str(error.detail))}")
    if count:
        messages.success(request, said % {"count": count})


def apply_on_page(
    model_admin: Any,
    request: HttpRequest,
    object_id: str,
    service: Callable[..., Any],
    *,
    said: Counted,
) -> HttpResponse:
    """Apply a service to the object of a page, as `for_each` does, and redirect to the page."""
    found = found_or_404(model_admin.get_object(request, object_id))
    for_each(request, [found.uuid], service, said=said)
    return after_dialog(
        request, reverse(f"admin:{model_admin.opts.label_lower.replace('.', '_')}_change", args=[found.pk])
    )


def filesize(size: int) -> str:
    """Format a number of bytes, in binary units."""
    if size < 1024:
        return gettext("%(count)s bytes") % {"count": size}
    value, units = size / 1024, ("KB", "MB", "GB", "TB")
    for unit in units[:-1]:
        if value < 1024:
            return f"{value:.0f} {unit}" if value >= 100 else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} {units[-1]}"


def dollars(amount: Decimal | None) -> str:
    """Return US dollars to the cent, and small amounts to the millionth, never rounded down; in words for None."""
    if amount is None:
        return gettext("unknown")
    if amount == 0 or amount >= 1:
        return f"${amount.quantize(CENT, ROUND_UP):,}"
    shown = f"{amount.quantize(SMALLEST, ROUND_UP):f}".rstrip("0")
    return f"${shown}{'0' * max(0, 4 - len(shown))}"


class Described(NamedTuple):
    """An object in a question. title: what it is, plain or rendered. lines: its content and what becomes of it."""

    title: Words
    lines: Sequence[Words] = ()


def confirmation(
    request: HttpRequest,
    model_admin: Any,
    chosen: Iterable[Model],
    *,
    describe: Callable[[Any], Described] = lambda obj: Described(str(obj)),
    **words: Words,
) -> TemplateResponse | None:
    """Return a page that asks before an action on several objects; None once it was confirmed.

    describe: says in words what an object is. words: `title`, `question`, `button`. The name of the action is taken
    from the request.
    """
    if request.POST.get(CONFIRMED):
        return None
    context = {
        **model_admin.admin_site.each_context(request),
        **words,
        "opts": model_admin.model._meta,
        "media": model_admin.media,
        "chosen": [{"pk": obj.pk, "described": describe(obj)} for obj in chosen],
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


def render_difference(lines: Iterable[str]) -> SafeString:
    """Render the lines of a unified diff; colours only repeat what the signs say."""
    rows = ((_CLASSES.get(line[:1], "mh-diff-same"), line) for line in lines)
    return format_html(
        '<div class="mh-diff" tabindex="0">{}</div>', format_html_join("", '<span class="{}">{}</span>', rows)
    )


class LinesField(forms.CharField):
    """A list of words, one per line."""

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return [line.strip() for line in str(super().to_python(value)).splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return sorted(initial or []) != sorted(self.to_python(data))
