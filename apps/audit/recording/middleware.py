"""The entry of a request: of pages by accounts, and of calls by operator keys."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any
from urllib.parse import unquote
from uuid import UUID

from django.conf import settings
from django.contrib.admin.utils import unquote as unquote_key
from django.http import HttpRequest, HttpResponse
from django.urls import ResolverMatch
from rest_framework.exceptions import APIException

from apps.audit.domain.actions import CHANGING_METHODS, Outcome, action_of_route, action_on_page, outcome_of
from apps.audit.models import ActorKind, AuditEntry
from apps.audit.recording.entries import build_entry, note_loss, write_entries
from apps.audit.recording.notes import Recording, recording
from apps.core.domain.scope import IDENTIFIERS, Access, Permission, Scope

ID_NAMES = ("uuid", "object_id", "pk", "id", "name")
NOT_ALLOWED = 405
KEY_ROUTES = frozenset({"keys", "key", "key-rotate"})


class AuditMiddleware:
    """Writes the entries of a request once it is answered, with one statement. It never fails a request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with recording() as held:
            response = self.get_response(request)
        try:
            if entries := entries_of(request, response, held):
                write_entries(entries)
        except Exception as error:  # noqa: BLE001  (what the request did is done)
            note_loss(request.method or "", error)
        return response


def entries_of(request: HttpRequest, response: HttpResponse, held: Recording) -> list[AuditEntry]:
    """Return the entries of a request: its sign-ins, or one for each object that it changed, or one."""
    if held.acts:
        return held.acts
    match = request.resolver_match
    # A page that takes no forms was asked for in a wrong way: nobody tried to change anything.
    if match is None or response.status_code == NOT_ALLOWED or not is_recorded(request, match):
        return []
    caller = caller_of(request, match.view_name) or holder_of_link(request, held)
    if caller is None or (not held.notes and is_question(response, match)):
        return []
    outcome = outcome_of(response.status_code)
    if outcome is Outcome.DONE and has_errors(response):  # a form that is shown again was refused
        outcome = Outcome.REFUSED
    common = caller | {"action": action_of(request, match), "outcome": outcome}
    kind, key = object_of(match)
    scope = scope_of_request(request, response, match)
    if not held.notes:
        key = key or created_id(response)
        return [build_entry(**common, object_type=kind, object_id=key, scope=scope)]
    more = {"left_out": held.left_out} if held.left_out else {}
    return [
        build_entry(
            **{**common, "detail": {**common["detail"], **note.detail, **more}},
            object_type=note.object_type,
            object_id=note.object_id,
            scope=note.scope if note.scope.named() else scope,
        )
        for note in held.notes.values()
    ]


def is_recorded(request: HttpRequest, match: ResolverMatch) -> bool:
    """Return whether requests to a route are recorded."""
    name, tables = match.view_name, import_module(settings.AUDIT_TABLES)
    if request.method not in CHANGING_METHODS:
        return request.method == "GET" and name in tables.READS
    if name in tables.QUIET:
        return False
    view = getattr(match.func, "cls", None)
    reads = view is not None and getattr(view, "needed_permission", None) is Permission.READ
    return not reads or name in tables.WRITES


def caller_of(request: HttpRequest, route: str) -> dict[str, Any] | None:
    """Return who acts, and from where; None for keys that are no operators, and without a sign-in."""
    address = request.META.get("REMOTE_ADDR")
    access = getattr(request, "auth", None)
    if isinstance(access, Access):
        if not access.allows(Permission.OPERATOR) and route not in KEY_ROUTES:
            return None
        key_id = getattr(request.user, "key_id", "")
        return {
            "actor_kind": ActorKind.KEY, "actor": access.actor.removeprefix("key:"), "address": address,
            "detail": {"key": str(key_id)},
        }  # fmt: skip
    # Addresses for keys have no user without one.
    if request.path.startswith("/api/") or request.user is None or not request.user.is_authenticated:
        return None
    name = request.user.get_username()
    return {"actor_kind": ActorKind.PERSON, "actor": name, "address": address, "detail": {}}


def holder_of_link(request: HttpRequest, held: Recording) -> dict[str, Any] | None:
    """Return who acts without a sign-in: the person of the one account that changed, by a link to choose a password."""
    changed = {note.name for note in held.notes.values() if note.object_type == "auth.user" and note.changes}
    if len(changed) != 1 or request.path.startswith("/api/"):
        return None
    address = request.META.get("REMOTE_ADDR")
    return {"actor_kind": ActorKind.PERSON, "actor": changed.pop(), "address": address, "detail": {}}


def action_of(request: HttpRequest, match: ResolverMatch) -> str:
    """Return the act of a request."""
    model_admin = getattr(match.func, "model_admin", None)
    if model_admin is None:
        return action_of_route(match.view_name, request.method or "")
    options = model_admin.opts
    page = (match.url_name or "").removeprefix(f"{options.app_label}_{options.model_name}_")
    # In English, whatever the language of the page.
    return action_on_page(options.verbose_name_raw, page, request.POST.get("action", ""))


def object_of(match: ResolverMatch) -> tuple[str, str]:
    """Return the kind and the id of the object that an address names."""
    model_admin = getattr(match.func, "model_admin", None)
    if model_admin is not None:
        return model_admin.opts.label_lower, unquote_key(str(match.kwargs.get("object_id", "")))
    kind = match.view_name.removeprefix("cockpit_").partition("-")[0]
    named = {name: value for name, value in match.kwargs.items() if name not in IDENTIFIERS}
    key = next((named[name] for name in ID_NAMES if name in named), next(iter(named.values()), ""))
    return kind, unquote(str(key))


def created_id(response: HttpResponse) -> str:
    """Return the id of what a call has created."""
    if response.status_code != 201:
        return ""
    found = (part.get("id") for part in answered(response))
    return next((str(value) for value in found if isinstance(value, str | UUID)), "")


def answered(response: HttpResponse) -> Iterator[Mapping[str, Any]]:
    """Yield the answer of a call, and the objects in it, such as the memory that was saved."""
    data = getattr(response, "data", None)
    if isinstance(data, Mapping):
        yield data
        yield from (value for value in data.values() if isinstance(value, Mapping))


def scope_of_request(request: HttpRequest, response: HttpResponse, match: ResolverMatch) -> Scope:
    """Return whose data a call was about, by its address, its answer or its fields: identifiers and nothing else."""
    places: list[Any] = [match.kwargs, *answered(response), request.GET]
    drf = (getattr(response, "renderer_context", None) or {}).get("request")
    if drf is not None:
        with suppress(APIException):
            places.append(drf.data)
    for place in places:
        if isinstance(place, Mapping):
            found = [value if isinstance(value := place.get(name), str) else None for name in IDENTIFIERS]
            if any(found):
                return Scope(*(value or None for value in found))
    return Scope()


def has_errors(response: HttpResponse) -> bool:
    """Return whether the answer is a page whose form has errors."""
    if response.status_code != 200:
        return False
    context = getattr(response, "context_data", None) or {}
    form: Any = context.get("form") or getattr(context.get("adminform"), "form", None)
    return bool(context.get("errors") or (getattr(form, "is_bound", False) and form.errors))


def is_question(response: HttpResponse, match: ResolverMatch) -> bool:
    """Return whether a page of the admin only asks something, such as whether to delete what was selected."""
    if getattr(match.func, "model_admin", None) is None or response.status_code != 200:
        return False
    return not has_errors(response) and "HX-Redirect" not in response.headers
