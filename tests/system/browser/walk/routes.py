"""Every page of the hub with a real address: computed from the URLconf, so that a page that is added is visited."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from allauth.mfa.models import Authenticator
from django.apps import apps
from django.contrib.auth.models import User
from django.db.models import Model
from django.urls import URLPattern, URLResolver, get_resolver, resolve, reverse
from django.utils import timezone
from django_q.models import OrmQ, Schedule
from oauth2_provider.models import Application

from apps.accounts.models import Invitation
from apps.accounts.services import invitation_create, invitation_path, password_link
from apps.core.models import ApiKey
from apps.episodic.models import Segment, TimelineEvent
from apps.events.services import failure_groups
from apps.imports.models import Import
from apps.notes.models import Compaction, NoteVersion
from apps.people.leaving import THEMSELVES
from apps.people.models import AppForgetting, Erasure
from apps.semantic.models import Conflict, Memory

# What assistants and machines call; tests/hostile/world.py has a table of it.
NOT_PAGES = re.compile(r"(api|mcp|oauth|\.well-known)(/(?!docs$)|$)|(healthz|readyz|metrics)$")
# Of these a page of each value is visited.
STATES = ("state", "status", "outcome", "is_enabled", "enabled")
# Files, texts for scripts, and addresses that only lead on to a page that is visited by itself.
LEFT_OUT = {
    "cockpit_audit_csv": "a file",
    "mfa_download_recovery_codes": "a file",
    "webui:privacy_file": "a file",
    "webui:days_copy": "a file",
    "webui:manifest": "a file",
    "webui:service_worker": "a script",
    "admin:jsi18n": "a script",
    "admin:autocomplete": "answers for scripts",
    "admin:view_on_site": "leads to the page of an object elsewhere",
    "admin:index": "the same address as cockpit_now",
    "": "leads to the page of an object, or to nothing",
}
MODEL_PAGE = re.compile(r"^admin/(\w+)/(\w+)/")
ARGUMENT = re.compile(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>")


@dataclass(frozen=True)
class Page:
    """An address to visit. name: of its route. variant: which of several objects it is about, such as `open`."""

    name: str
    path: str
    variant: str = ""


def pages_of_hub() -> list[Page]:
    """Return all pages, those of the own account first, since they forget that a password was confirmed."""
    found = [page for route, name in routes() for page in pages_of_route(route, name)]
    return sorted(found, key=lambda page: "/accounts/" not in page.path)


def routes(patterns: Any = None, prefix: str = "", space: str = "") -> Iterator[tuple[str, str]]:
    """Yield the route and the name of each address that may be a page."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            inner = f"{pattern.namespace}:" if pattern.namespace else space
            yield from routes(pattern.url_patterns, route, inner)
        elif isinstance(pattern, URLPattern) and not NOT_PAGES.match(route):
            name = space + pattern.name if pattern.name else ""
            if name not in LEFT_OUT:
                yield route, name


def pages_of_route(route: str, name: str) -> Iterator[Page]:
    """Yield a page for each object that the route is to be visited with."""
    for variant, arguments in arguments_of(route, name):
        path = reverse(name, kwargs=arguments)
        query = QUERIES.get(name, "")
        yield Page(name, path + (query if isinstance(query, str) else query()), variant)


def arguments_of(route: str, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what stands for the arguments of a route: objects of its model, or what ARGUMENTS says."""
    wanted = [first or second for first, second in ARGUMENT.findall(route)]
    if name in ARGUMENTS:
        yield "", ARGUMENTS[name]()
    elif not wanted:
        yield "", {}
    elif name == "admin:app_list":
        yield from ((app, {"app_label": app}) for app in ("core", "semantic"))
    elif place := MODEL_PAGE.match(route):
        found = objects_of(apps.get_model(place[1], place[2]), each_state=name.endswith("_change"))
        yield from ((variant, {wanted[0]: one.uuid if wanted[0] == "uuid" else one.pk}) for variant, one in found)
    else:
        raise LookupError(f"Say in ARGUMENTS what to visit {name or route} with.")


def objects_of(model: type[Model], *, each_state: bool) -> Iterator[tuple[str, Any]]:
    """Yield the newest object of a model, or of each of its states."""
    rows = model._default_manager.order_by("-pk")
    if model is Memory:  # managed ones, which follow a file, have no buttons
        rows = rows.filter(managed_by="")
    states = [field.name for field in model._meta.fields if field.name in STATES and each_state]
    if not states:
        yield "", newest(rows)
        return
    for state in sorted(set(rows.order_by().values_list(states[0], flat=True)), key=str):
        yield str(state), newest(rows.filter(**{states[0]: state}))


def newest(rows: Any) -> Any:
    """Return the newest of some rows. Raises LookupError without any: the world lacks one."""
    first = rows.first()
    if first is None:
        raise LookupError(f"The world of the walk has no {rows.model.__name__}.")
    return first


def failure_key() -> str:
    """Return the key of a group of failed tasks, which the page of work makes."""
    return failure_groups()[0].key


def passkey() -> dict[str, Any]:
    """Return the arguments of the pages of a passkey."""
    return {"pk": newest(Authenticator.objects.filter(type=Authenticator.Type.WEBAUTHN)).pk}


def password_key() -> dict[str, str]:
    """Return the arguments of a link to choose a password."""
    login = User.objects.get(username="ana-signs-in")
    return dict(resolve(password_link(login=login)).kwargs)


def invited() -> dict[str, str]:
    """Return the arguments of a link of an invitation, which leads to the page behind it."""
    _, token = invitation_create(username="eve-signs-in", person_id="eve", invited_by="admin:operator")
    return dict(resolve(invitation_path(token)).kwargs)


# An app that asks to be let in.
SIGNING_IN = {"redirect_uris": ["https://agent.example/back"], "token_endpoint_auth_method": "none"}


def signing_in() -> str:
    """Return the query with which an app sends a person to the page that asks them."""
    client = newest(Application.objects.all()).client_id
    [back] = SIGNING_IN["redirect_uris"]
    return f"?response_type=code&client_id={client}&redirect_uri={back}&code_challenge={'x' * 43}" + (
        "&code_challenge_method=S256&scope=read+write"
    )


ARGUMENTS: dict[str, Any] = {
    "account_invitation_link": invited,
    "cockpit_invitation_revoke": lambda: {"uuid": newest(Invitation.objects.all()).uuid},
    "account_reset_password_from_key": password_key,
    "mfa_remove_webauthn": passkey,
    "mfa_edit_webauthn": passkey,
    "cockpit_erasure": lambda: {"uuid": newest(Erasure.objects.all()).uuid},
    **dict.fromkeys(
        [f"webui:app{step}" for step in ("", "_stop", "_let_in", "_forget")],
        lambda: {"uuid": newest(ApiKey.objects.filter(user_id="ana", revoked_at=None)).uuid},
    ),
    **dict.fromkeys(
        [f"webui:forgetting{step}" for step in ("", "_state", "_undo")],
        lambda: {"uuid": newest(AppForgetting.objects.filter(user_id="ana")).uuid},
    ),
    **dict.fromkeys(
        [f"webui:bring_{step}" for step in ("import", "state", "confirm", "drop")],
        lambda: {"uuid": newest(Import.objects.filter(user_id="ana")).uuid},
    ),
    # Of one that was not brought in, this leads on.
    "webui:bring_undo": lambda: {"uuid": newest(Import.objects.filter(user_id="ana", state="done")).uuid},
    "cockpit_decision": lambda: {"key": newest(Conflict.objects.filter(state="open")).pk},
    "cockpit_decisions_alike": lambda: {"key": newest(Conflict.objects.filter(state="open")).pk},
    **dict.fromkeys(
        ("cockpit_work_run", "cockpit_work_pause", "cockpit_work_resume"),
        lambda: {"pk": newest(Schedule.objects.all()).pk},
    ),
    **dict.fromkeys(
        ("cockpit_work_failure", "cockpit_work_rerun", "cockpit_work_aside"), lambda: {"key": failure_key()}
    ),
    **dict.fromkeys(
        [f"webui:note{step}" for step in ("", "_edit", "_versions")],
        lambda: {"path": "MEMORY.md"},
    ),
    **dict.fromkeys(
        [f"webui:note_{step}" for step in ("version", "restore")],
        lambda: {"uuid": newest(NoteVersion.objects.filter(user_id="ana", place="MEMORY.md")).uuid},
    ),
    "webui:forgotten": lambda: {"uuid": newest(Erasure.objects.filter(requested_by=THEMSELVES)).uuid},
    **dict.fromkeys(
        [f"webui:days_{step}" for step in ("span", "forget")],
        lambda: {"span": f"{newest(TimelineEvent.objects.filter(user_id='ana')).timestamp:%Y-%m-%d}"},
    ),
    **dict.fromkeys(
        [f"webui:days_{step}" for step in ("event", "event_forget")],
        lambda: {"uuid": newest(TimelineEvent.objects.filter(user_id="ana")).uuid},
    ),
    "webui:memory_settings_save": lambda: {"part": "gate"},
    "webui:memory_compaction_decide": lambda: {"uuid": newest(Compaction.objects.filter(user_id="ana")).uuid},
    **dict.fromkeys(
        [f"webui:memory_{step}_true" for step in ("both", "this")],
        lambda: {"uuid": newest(Memory.objects.filter(user_id="ana", status="superseded")).uuid},
    ),
    "webui:decision_undo": lambda: {"uuid": newest(Conflict.objects.filter(user_id="ana")).uuid},
    "webui:clear_up_answer": lambda: {"uuid": newest(Conflict.objects.filter(user_id="ana", state="open")).uuid},
    **dict.fromkeys(
        [
            "webui:learned_undo",
            *(f"webui:memory{step}" for step in ("", "_correct", "_forget", "_keep_for", "_restore", "_still_true")),
        ],
        lambda: {"uuid": newest(Memory.objects.filter(user_id="ana", status="active")).uuid},
    ),
    **dict.fromkeys(
        [f"admin:core_apikey_{step}" for step in ("rotate", "revoke_this")],
        lambda: {"object_id": newest(ApiKey.objects.filter(revoked_at=None)).pk},
    ),
    # One that no worker takes.
    **dict.fromkeys(
        [f"admin:django_q_ormq_{step}" for step in ("change", "history", "delete")],
        lambda: {"object_id": newest(OrmQ.objects.filter(lock__gt=timezone.now() + timedelta(hours=1))).pk},
    ),
    "admin:semantic_memory_undo": lambda: {"pk": newest(Memory.objects.filter(status="superseded")).pk},
    "admin:episodic_segment_inside": lambda: {"object_id": newest(Segment.objects.filter(state="open")).pk},
    "admin:episodic_segment_run": lambda: {"run": "00000000-0000-4000-8000-000000000000"},
}
# What pages without arguments in their address are asked.
QUERIES: dict[str, str | Callable[[], str]] = {
    "webui:sign_in": signing_in,
    "cockpit_ask": "?question=what+does+ana+drink&user_id=ana",
    "cockpit_person": "?user_id=ana",
    "cockpit_person_forget": "?user_id=ana",
    "webui:note_versions": "?from=1&to=2",
    "cockpit_person_look": "?user_id=ana",
    "webui:ask": "?q=which+books+has+ana+read",
    "admin:search": "?s=ana",
    "admin:episodic_timelineevent_query": "?user_id=ana&text=event",
    "admin:notes_noteversion_person": "?user_id=ana&q=tea",
    "admin:llm_breaker_reset": "?provider=openai",
}
