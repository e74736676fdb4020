"""What the admin remembers of a user: its log of changes, and the sessions of operators."""

import json
from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db.models import Model, Q, QuerySet, TextField
from django.db.models.functions import Cast

from apps.core.personal.erase import delete_in_parts, names_user, naming
from apps.core.personal.store import PersonalStore
from apps.core.steps import Step, no_step


class AdminStore(PersonalStore):
    """The log of the admin and the sessions of operators. Forgotten first: entries name rows that are still there."""

    name = "admin"
    order = 95
    models = (LogEntry, Session)

    def count(self, user_id: str) -> int:
        return entries_about(user_id).count() + len(sessions_naming(user_id))

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        yield from delete_in_parts(entries_about(user_id))
        yield from delete_in_parts(Session.objects.filter(pk__in=sessions_naming(user_id)))

    def find(self, user_id: str) -> Iterator[str]:
        if mentions(user_id):
            yield "django_admin_log"
        if sessions_naming(user_id):
            yield "django_session"


def mentions(user_id: str) -> list[int]:
    """Return the keys of entries whose text names a user; the key of a row and the names of its fields name no one."""
    pattern = naming(user_id)
    entries = LogEntry.objects.filter(Q(object_repr__regex=pattern) | Q(change_message__regex=pattern)).order_by("pk")
    return [
        one.pk for one in entries.iterator() if names_user([one.object_repr, *said_by(one.change_message)], user_id)
    ]


def said_by(message: str) -> list[Any]:
    """Return what the message of an entry says of rows: its text, or the rows that a change in a form names."""
    try:
        changes = json.loads(message)
        return [change.get("object") for part in changes for change in part.values()]
    except (ValueError, TypeError, AttributeError):
        return [message]


def entries_about(user_id: str) -> QuerySet[LogEntry]:
    """Return the entries that name a user, or that are about a row of theirs."""
    about = Q(pk__in=mentions(user_id))
    for model in models_of_users():
        rows = model._default_manager.filter(user_id=user_id).annotate(key_as_text=Cast("pk", TextField()))
        kind = ContentType.objects.get_for_model(model)
        about |= Q(content_type=kind, object_id__in=rows.values("key_as_text"))
    return LogEntry.objects.filter(about)


def models_of_users() -> Iterator[type[Model]]:
    """Yield our tables that name a user."""
    for model in apps.get_models():
        if model.__module__.startswith("apps.") and any(field.name == "user_id" for field in model._meta.fields):
            yield model


def sessions_naming(user_id: str) -> list[str]:
    """Return the keys of sessions in which something names a user. Who is logged in is an account of the admin."""
    sessions = Session.objects.order_by("pk").iterator(chunk_size=500)
    return [str(one.pk) for one in sessions if names_user(kept_in(one), user_id)]


def kept_in(session: Session) -> dict[str, Any]:
    """Return what a session holds besides the login, and the name with which the person signed in."""
    return {name: value for name, value in session.get_decoded().items() if not name.startswith(("_auth_", "account_"))}
