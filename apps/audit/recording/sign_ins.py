"""Sign-in, sign-out and failed sign-in, by the signals of Django and allauth."""

from functools import partial
from typing import Any

from allauth.mfa.signals import authentication_failed
from django.contrib.auth import get_user_model
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db import DatabaseError, transaction
from django.http import HttpRequest

from apps.audit.models import ActorKind
from apps.audit.recording.entries import build_entry, note_loss, write_entries
from apps.audit.recording.notes import current_recording

UID = "audit of sign-ins"
# What was entered may be a password in the wrong field: only names of accounts are kept.
UNKNOWN_ACCOUNT = "an unknown account"


def watch_sign_ins() -> None:
    """Record who signs in and out, and who fails to."""
    for signal, action, outcome in (
        (user_logged_in, "session.sign_in", "done"),
        (user_logged_out, "session.sign_out", "done"),
        # A wrong code of a second factor, which was asked for after the right password.
        (authentication_failed, "session.second_factor", "refused"),
    ):
        signal.connect(partial(on_act, action=action, outcome=outcome), weak=False, dispatch_uid=UID)
    user_login_failed.connect(on_failure, dispatch_uid=UID)


def on_act(
    sender: Any, request: HttpRequest | None = None, user: Any = None, *, action: str, outcome: str, **_: Any
) -> None:
    """Record an act of an account."""
    if user is not None:
        keep(request, user.get_username(), action, outcome, str(user.pk))


def on_failure(sender: Any, credentials: Any = None, request: HttpRequest | None = None, **_: Any) -> None:
    """Record a failed sign-in."""
    given = credentials or {}
    named = str(given.get("username") or "").strip().replace("\0", "")
    users = get_user_model()._default_manager
    account = users.filter(username__iexact=named[:150]).first() if named else None
    keep(
        request,
        account.get_username() if account else UNKNOWN_ACCOUNT,
        "session.sign_in",
        "refused",
        str(account.pk) if account else "",
    )


def keep(request: HttpRequest | None, actor: str, action: str, outcome: str, pk: str) -> None:
    """Hold an entry until the request ends, or write it where there is none. A failure to write it fails nothing."""
    entry = build_entry(
        actor_kind=ActorKind.PERSON,
        actor=actor,
        action=action,
        object_type="auth.user" if pk else "",
        object_id=pk,
        outcome=outcome,
        address=request.META.get("REMOTE_ADDR") if request is not None else None,
    )
    held = current_recording()
    if held is not None:
        held.acts.append(entry)
        return
    try:
        with transaction.atomic():
            write_entries([entry])
    except DatabaseError as error:
        note_loss(action, error)
