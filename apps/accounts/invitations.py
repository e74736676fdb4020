"""The links: made, found, ended and revoked. Callers say who may do this; taking one is a service of accounts."""

import hashlib
import secrets
from datetime import timedelta
from uuid import UUID

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.accounts.models import Invitation
from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, InvalidInputError, NotFoundError
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS

# Long enough for a person who looks at their messages once a week.
LIFE = timedelta(days=7)
SECRET_BYTES = 32


def digest_of(token: str) -> str:
    """Return what is stored of a link: 256 random bits need no slow hash."""
    return hashlib.sha256(token.encode()).hexdigest()


def invitation_path(token: str) -> str:
    """Return the path of a link."""
    return reverse("account_invitation_link", args=[token])


def open_invitations(clock: Clock = SYSTEM_CLOCK) -> QuerySet[Invitation]:
    """Return those whose link works."""
    return Invitation.objects.filter(accepted_at=None, revoked_at=None, expires_at__gt=utcnow(clock))


@transaction.atomic
def invitation_create(
    *,
    username: str,
    person_id: str,
    household_id: str = "",
    language: str = "",
    invited_by: str,
    clock: Clock = SYSTEM_CLOCK,
) -> tuple[Invitation, str]:
    """Invite a person, and return the invitation with the secret of its link, which cannot be read again.

    household_id: to which they belong once they have taken the link. Former links for the same name stop working.
    Raises InvalidInputError for an unusable name or id, ConflictError for a name that an account has, and
    UserLockedError for a user who is being forgotten.
    """
    now = utcnow(clock)
    check_name(username)
    if language and language not in dict(settings.LANGUAGES):
        raise InvalidInputError(_("Choose one of the list."), attr="language")
    if not person_id or len(person_id) > MAX_IDENTIFIER_CHARS:
        raise InvalidInputError(_("Choose whose memories these are."), attr="person_id", code="required")
    if len(household_id) > MAX_IDENTIFIER_CHARS:
        raise InvalidInputError(_("At most %(n)s characters.") % {"n": MAX_IDENTIFIER_CHARS}, attr="household_id")
    hold_users({person_id})
    Invitation.objects.filter(username__iexact=username, accepted_at=None, revoked_at=None).update(revoked_at=now)
    token = secrets.token_urlsafe(SECRET_BYTES)
    invitation = Invitation.objects.create(
        digest=digest_of(token),
        username=username,
        person_id=person_id,
        household_id=household_id,
        language=language,
        invited_by=invited_by,
        created_at=now,
        expires_at=now + LIFE,
    )
    return invitation, token


def check_name(username: str) -> None:
    """Raise InvalidInputError for a name that cannot be one, and ConflictError for one that is taken."""
    try:
        UnicodeUsernameValidator()(username)
    except ValidationError as error:
        raise InvalidInputError(" ".join(error.messages), attr="username") from error
    if get_user_model().objects.filter(username__iexact=username).exists():
        raise ConflictError(_("An account with this name already exists."), attr="username")


def invitation_find(digest: str, clock: Clock = SYSTEM_CLOCK) -> Invitation:
    """Return the invitation whose link this is. Raises NotFoundError for one that does not work, without a reason."""
    found = open_invitations(clock).select_related("login").filter(digest=digest).first()
    if found is None:
        raise NotFoundError(_("This link no longer works."))
    return found


def invitation_settle(*, login: User, clock: Clock = SYSTEM_CLOCK) -> None:
    """End the link of an account that can sign in now: by a password, or by a passkey."""
    passkeys = Authenticator.objects.filter(user=login, type=Authenticator.Type.WEBAUTHN)
    if login.has_usable_password() or passkeys.exists():
        Invitation.objects.filter(login=login, accepted_at=None, revoked_at=None).update(accepted_at=utcnow(clock))


def invitation_revoke(*, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> Invitation:
    """Have a link work no more; one that was used or revoked stays as it is. Raises NotFoundError."""
    found = Invitation.objects.filter(uuid=uuid).first()
    if found is None:
        raise NotFoundError(_("There is no such invitation."))
    if found.accepted_at is None and found.revoked_at is None:
        found.revoked_at = utcnow(clock)
        found.save(update_fields=["revoked_at"])
    return found
