"""Accounts: create, give a role, bind, and help people back in. Callers say who may do this."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from apps.accounts.domain.time_zones import time_zones
from apps.accounts.invitations import (
    invitation_create,
    invitation_find,
    invitation_path,
    invitation_revoke,
    invitation_settle,
    open_invitations,
)
from apps.accounts.models import Account
from apps.accounts.roles import all_roles, roles_ensure
from apps.accounts.sessions import SessionStore, sessions_of
from apps.core.db.memberships import scope_ties_make
from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, InvalidInputError, NotFoundError
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, Scope
from apps.core.services import settle_reads

__all__ = [
    "account_bind",
    "account_create",
    "account_find",
    "account_set_person",
    "account_set_role",
    "account_show_in",
    "invitation_accept",
    "invitation_create",
    "invitation_find",
    "invitation_path",
    "invitation_revoke",
    "invitation_settle",
    "pages_return",
    "pages_take",
    "password_link",
    "person_create",
    "second_factor_reset",
    "sessions_end",
]

# Answered by the API as it is; the form translates it.
UNBOUND_SUPERUSER = gettext_noop("A superuser sees everything and cannot be bound. Give the account a role instead.")


def account_find(username: str) -> User:
    """Return the account of a name. Raises NotFoundError."""
    found: User | None = get_user_model().objects.select_related("account").filter(username=username).first()
    if found is None:
        raise NotFoundError(f"There is no account {username!r}.")
    return found


@transaction.atomic
def account_create(*, username: str, role: str, scope: Scope | None = None, reads: Collection[str] = ()) -> User:
    """Create an account without a password, which its person chooses by `password_link`.

    Raises InvalidInputError for an unusable name, a role that does not exist or reads without a bound, and
    ConflictError for a name that is taken.
    """
    try:
        UnicodeUsernameValidator()(username)
    except ValidationError as error:
        raise InvalidInputError(" ".join(error.messages), attr="username") from error
    if get_user_model().objects.filter(username__iexact=username).exists():
        raise ConflictError(f"There is already an account named {username!r}.", attr="username")
    login: User = get_user_model().objects.create_user(username)
    account_set_role(login=login, role=role)
    account_bind(login=login, scope=scope or Scope(), reads=reads)
    return login


@transaction.atomic
def account_set_role(*, login: User, role: str) -> None:
    """Give an account one role instead of the one that it has; none for a blank name.

    Only an account with a role, or with permissions of its own, may enter the admin. Raises InvalidInputError.
    """
    names = [one.name for one in all_roles()]
    if role and role not in names:
        raise InvalidInputError(f"There is no role {role!r}. Choose one of {', '.join(names)}.", attr="role")
    login.groups.remove(*login.groups.filter(name__in=names).exclude(name=role))
    if role:
        if not Group.objects.filter(name=role).exists():
            roles_ensure()  # Someone has deleted it.
        login.groups.add(Group.objects.get(name=role))
    may_enter = login.is_superuser or login.groups.exists() or login.user_permissions.exists()
    if login.is_staff != may_enter:
        login.is_staff = may_enter
        login.save(update_fields=["is_staff"])


@transaction.atomic
def account_bind(*, login: User, scope: Scope, reads: Collection[str] = ()) -> None:
    """Let an account see only what matches a scope, and what was granted besides; everything for an empty scope.

    Raises InvalidInputError for a superuser, for reads without a bound, and for a user who is being forgotten.
    """
    if login.is_superuser and scope != Scope():
        raise InvalidInputError(UNBOUND_SUPERUSER, attr="user_id")
    granted = settle_reads(scope, reads)
    hold_users({owner for owner in (scope.user_id, *granted) if owner})
    named = {name: scope.named().get(name, "") for name in ("user_id", "household_id", "persona_id")}
    if scope == Scope() and not Account.objects.filter(login=login).exists():
        return
    account, _created = Account.objects.update_or_create(login=login, defaults={**named, "reads": granted})
    account_ties_make(account)


@transaction.atomic
def account_set_person(*, login: User, person_id: str) -> None:
    """Say whose own pages an account has at `/`; of no person for a blank id.

    Raises InvalidInputError for an id that is too long, and for a user who is being forgotten.
    """
    if len(person_id) > MAX_IDENTIFIER_CHARS:
        raise InvalidInputError(f"At most {MAX_IDENTIFIER_CHARS} characters.", attr="person_id", code="max_length")
    if person_id:
        hold_users({person_id})
    account, _created = Account.objects.update_or_create(login=login, defaults={"person_id": person_id})
    account_ties_make(account)


def account_ties_make(account: Account, clock: Clock = SYSTEM_CLOCK) -> None:
    """Let whose account this is belong to the household and persona that it is bound to, since operators say both."""
    for user in {account.user_id, account.person_id} - {""}:
        scope_ties_make(replace(account.scope, user_id=user), made_by=f"account:{account.login}", made_at=utcnow(clock))


def account_show_in(
    *, login: User, language: str | None = None, time_zone: str | None = None, name: str | None = None
) -> None:
    """Choose in which language and time zone pages are shown to an account, and its name there; what is None stays.

    Raises InvalidInputError for a language that the hub does not have, and a time zone that there is not. Blank is what
    the browser asks for, and UTC.
    """
    chosen = {"language": language, "time_zone": time_zone}
    known = {"language": dict(settings.LANGUAGES), "time_zone": time_zones()}
    for column, value in chosen.items():
        if value and value not in known[column]:
            raise InvalidInputError(_("Choose one of the list."), attr=column)
    Account.objects.update_or_create(
        login=login, defaults={column: value for column, value in chosen.items() if value is not None}
    )
    if name is not None:
        login.first_name, login.last_name = name, ""
        login.save(update_fields=["first_name", "last_name"])


@transaction.atomic
def person_create(*, username: str, person_id: str) -> User:
    """Create an account for a person: without a role, bound to what is theirs, and with their own pages.

    Raises what `account_create` raises, and InvalidInputError without an id.
    """
    if not person_id:
        raise InvalidInputError("Name the user whose account it is.", attr="person_id", code="required")
    login = account_create(username=username, role="", scope=Scope(person_id))
    account_set_person(login=login, person_id=person_id)
    return login


@transaction.atomic
def invitation_accept(*, digest: str, password: str | None, clock: Clock = SYSTEM_CLOCK) -> User:
    """Make the account of an invitation, and return it. digest: of the secret of its link.

    Without a password the person is to add a passkey next: until then the link leads here again. Raises NotFoundError
    for a link that does not work, and what `person_create` raises, such as ConflictError for a name taken since.
    """
    found = open_invitations(clock).select_for_update().filter(digest=digest).first()
    if found is None:
        raise NotFoundError(_("This link no longer works."))
    login = found.login or person_create(username=found.username, person_id=found.person_id)
    account_show_in(login=login, language=found.language)
    tie = Scope(found.person_id, found.household_id or None)
    scope_ties_make(tie, made_by=f"invitation:{found.invited_by}", made_at=utcnow(clock))
    found.login = login
    if password is not None:
        login.set_password(password)
        login.save(update_fields=["password"])
        found.accepted_at = utcnow(clock)
    found.save(update_fields=["login", "accepted_at"])
    return login


def password_link(*, login: User) -> str:
    """Return the path of a page on which the person chooses a password.

    It works once, for a day (settings.PASSWORD_RESET_TIMEOUT), and no longer once the person has signed in. A second
    factor is still asked for afterwards.
    """
    parts = {"uidb36": user_pk_to_url_str(login), "key": default_token_generator.make_token(login)}
    return reverse("account_reset_password_from_key", kwargs=parts)


def second_factor_reset(*, login: User) -> int:
    """Remove all second factors and recovery codes of an account, and end its sessions; return how many there were."""
    removed: int = Authenticator.objects.filter(user=login).delete()[0]
    sessions_end(login=login)
    return removed


def sessions_end(*, login: User, except_key: str | None = None) -> int:
    """Sign an account out everywhere, and return how many sessions ended. except_key: of a session that goes on."""
    keys = {key for key in sessions_of(login) if key != except_key}
    UserSession.objects.filter(user=login).exclude(session_key=except_key or "").delete()
    SessionStore.get_model_class().objects.filter(session_key__in=keys).delete()
    return len(keys)


@transaction.atomic
def pages_take(*, person_id: str) -> list[dict[str, Any]]:
    """Take the pages of a person from the accounts that may keep them, and return what `pages_return` needs.

    An account without any power loses its bound as well, and sees nothing. One with a role that is bound to the person
    stays as it is: without its bound it would see everything.
    """
    kept = []
    for account in Account.objects.select_for_update(of=("self",)).filter(person_id=person_id).select_related("login"):
        is_bound = account.user_id == person_id
        if is_bound and has_power(account.login):
            continue
        kept.append({"login": account.login.pk, "is_bound": is_bound})
        account.person_id, account.user_id = "", "" if is_bound else account.user_id
        account.save(update_fields=["person_id", "user_id"])
        if not has_power(account.login):
            # The name that the person chose is theirs, too.
            User.objects.filter(pk=account.login.pk).update(first_name="", last_name="")
    return kept


def pages_return(*, person_id: str, kept: Collection[Mapping[str, Any]]) -> None:
    """Give accounts the pages of a person again, in the caller's transaction; those that are gone stay so."""
    for one in kept:
        fields = {"person_id": person_id, **({"user_id": person_id} if one["is_bound"] else {})}
        Account.objects.filter(login=one["login"], person_id="").update(**fields)


def has_power(login: User) -> bool:
    """Return whether an account may do anything in the admin."""
    is_any = login.is_staff or login.is_superuser
    return is_any or login.groups.exists() or login.user_permissions.exists()
