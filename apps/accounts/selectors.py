"""Reads about accounts, for pages and for notices to owners."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Max, Min, QuerySet, Sum
from django.utils.translation import gettext as _

from apps.accounts.failures import client_address
from apps.accounts.models import Account, FailedSignIns, Invitation
from apps.accounts.roles import all_roles
from apps.core.bounds import is_bound
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Access, Scope, system_access

__all__ = [
    "Account",
    "Colleague",
    "Invitation",
    "SignInAlarm",
    "account_scopes",
    "all_roles",
    "client_address",
    "colleagues",
    "invitation_list",
    "person_names",
    "second_factors",
    "sign_in_problems",
]

ALARM_WINDOW = timedelta(hours=24)
# Fewer than these in a day are people who mistype.
ALARM_COUNT = 10


@dataclass(frozen=True)
class SignInAlarm:
    """Many failed sign-ins to one account; without a name, to names that no account has."""

    account: str | None
    count: int
    since: datetime
    last_at: datetime
    last_address: str | None


def sign_in_problems(clock: Clock = SYSTEM_CLOCK) -> list[SignInAlarm]:
    """Return the accounts to which signing in failed often within a day, the most often first."""
    rows = (
        FailedSignIns.objects.filter(last_at__gte=utcnow(clock) - ALARM_WINDOW)
        .values("login__username")
        .annotate(
            total=Sum("count"),
            since=Min("first_at"),
            until=Max("last_at"),
            addresses=ArrayAgg("last_address", order_by=["-last_at"]),
        )
        .filter(total__gte=ALARM_COUNT)
        .order_by("-total")
    )
    return [
        SignInAlarm(row["login__username"], row["total"], row["since"], row["until"], row["addresses"][0])
        for row in rows
    ]


def second_factors(login_id: int) -> list[str]:
    """Return what an account uses besides its password, in words; recovery codes alone are none."""
    kinds = Authenticator.objects.filter(user=login_id).values_list("type", flat=True)
    words = {Authenticator.Type.TOTP: _("authenticator app"), Authenticator.Type.WEBAUTHN: _("passkey")}
    return sorted({words[kind] for kind in kinds if kind in words})


def invitation_list() -> QuerySet[Invitation]:
    """Return all invitations, the newest first."""
    return Invitation.objects.order_by("-created_at", "-pk")


@dataclass(frozen=True)
class Colleague:
    """An account that enters the admin. permissions: as they are asked for, such as `semantic.view_memory`."""

    name: str
    access: Access
    permissions: frozenset[str]


def colleagues(needed: Collection[str]) -> list[Colleague]:
    """Return the accounts that enter the admin and have one of these permissions, with what each of them reaches."""
    found = []
    for login in User.objects.filter(is_active=True, is_staff=True).select_related("account").order_by("username"):
        if login.is_superuser and is_bound(login):
            login.is_superuser = False  # as the backend reads it
        held = frozenset(permission for permission in needed if login.has_perm(permission))
        actor = f"admin:{login.get_username()}"
        access = system_access(actor, WriteOrigin.PERSON)
        if is_bound(login):
            access = login.account.access(actor)
        if held:
            found.append(Colleague(login.get_username(), access, held))
    return found


def account_scopes() -> list[Scope]:
    """Return what accounts are bound to, with the user whose pages they have where they are bound to none."""
    return [replace(one.scope, user_id=one.user_id or one.person_id or None) for one in Account.objects.all()]


def person_names(user_ids: Collection[str]) -> dict[str, str]:
    """Return the names that people have chosen for themselves, by their ids; those without one are left out."""
    accounts = Account.objects.filter(person_id__in=user_ids).select_related("login").order_by("pk")
    return {one.person_id: name for one in accounts if (name := one.login.get_full_name())}
