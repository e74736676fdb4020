"""The pages of a person, taken from accounts for a while: as long as everything about that person is removed."""

from collections.abc import Collection, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from apps.accounts.models import Account


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
