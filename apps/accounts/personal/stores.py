"""Accounts that are bound to a user, have their pages, or were granted what is theirs."""

from collections.abc import Iterator

from django.contrib.auth import get_user_model
from django.db.models import F, Func, Q, Value

from apps.accounts.models import Account, Invitation
from apps.accounts.sessions import SessionStore, sessions_of
from apps.core.personal.registry import register_stores
from apps.core.personal.store import PersonalStore
from apps.core.steps import Step, no_step


class AccountStore(PersonalStore):
    """Accounts that name a user: as their bound, or among what they may read.

    An account that is bound to a forgotten user is removed whole, since without its bound it would see everything.
    Accounts that were granted the user, or have their pages, go on without that. They are not exported: passwords are
    not moved.
    """

    name = "accounts"
    order = 92
    models = (Account, Invitation)

    def count(self, user_id: str) -> int:
        named = Q(user_id=user_id) | Q(person_id=user_id) | Q(reads__contains=[user_id])
        return Account.objects.filter(named).count() + Invitation.objects.filter(person_id=user_id).count()

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        if invited := Invitation.objects.filter(person_id=user_id).delete()[0]:
            yield invited
        removed = 0
        for login in get_user_model().objects.filter(account__user_id=user_id):
            # They hold the name with which the person signed in.
            SessionStore.get_model_class().objects.filter(session_key__in=list(sessions_of(login))).delete()
            login.delete()
            removed += 1
        if removed:
            yield removed
        if pages := Account.objects.filter(person_id=user_id).update(person_id=""):
            yield pages
        granted = Account.objects.filter(reads__contains=[user_id])
        if ended := granted.update(reads=Func(F("reads"), Value(user_id), function="array_remove")):
            yield ended

    def find(self, user_id: str) -> Iterator[str]:
        invited = Invitation.objects.filter(person_id=user_id).count()
        if self.count(user_id) > invited:
            yield "accounts_account"
        if invited:
            yield "accounts_invitation"


register_stores((AccountStore(),))
