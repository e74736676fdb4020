"""What happens when a person signs in, or fails to."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.translation import ngettext

from apps.accounts.failures import record_failure, take_unnoticed
from apps.accounts.services import invitation_settle, sessions_end
from apps.core.admin.kit import moment


def show_failures(request: HttpRequest, user: User, **_: Any) -> None:
    """Show a person who signs in how often that failed since they were last shown it."""
    found = take_unnoticed(user)
    if count := found["count"]:
        words = ngettext(
            "%(count)s failed sign-in to your account since %(since)s, the last at %(until)s. If that was not you, "
            "choose another password and set up a second factor.",
            "%(count)s failed sign-ins to your account since %(since)s, the last at %(until)s. If that was not you, "
            "choose another password and set up a second factor.",
            count,
        )
        named = {"count": f"{count:,}", "since": moment(found["since"]), "until": moment(found["until"])}
        messages.warning(request, words % named)


def record_wrong_code(request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    """Record a wrong code of a second factor, which comes after the right password."""
    record_failure(request, user, "wrong code of the second factor")


def end_sessions_of_inactive(sender: Any, instance: User, created: bool, raw: bool = False, **_: Any) -> None:
    """End the sessions of an account that is switched off: none of them goes on when it is switched on again."""
    if not instance.is_active and not created and not raw:
        sessions_end(login=instance)


def settle_invitation(user: User, **_: Any) -> None:
    """End the link of an invitation once its person can sign in by what they chose."""
    invitation_settle(login=user)
