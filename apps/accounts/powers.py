"""What accounts may give each other: none more than it has itself, and one that manages accounts is always left."""

from typing import Any

from django.contrib.auth.models import Group, Permission, User
from django.db import transaction
from django.db.models import Q, QuerySet

MANAGE = "auth.change_user"
UNBOUND = Q(account=None) | Q(account__user_id="", account__household_id="", account__persona_id="")


def names_of(permissions: QuerySet[Permission]) -> set[str]:
    """Return permissions as they are asked for, such as `semantic.view_memory`."""
    rows = permissions.values_list("content_type__app_label", "codename")
    return {f"{app}.{codename}" for app, codename in rows}


def permissions_given(to: User | Group) -> set[str]:
    """Return what an account or a group was given: also an account that is bound or switched off."""
    if isinstance(to, Group):
        return names_of(to.permissions.all())
    return names_of(Permission.objects.filter(Q(user=to) | Q(group__user=to)))


def may_give(viewer: Any, to: User | Group) -> bool:
    """Return whether an account has all that another one, or a group, was given, so that it may change it."""
    if viewer.is_superuser:
        return True
    is_above = isinstance(to, User) and to.is_superuser
    return not is_above and permissions_given(to) <= viewer.get_all_permissions()


def managers() -> QuerySet[User]:
    """Return the accounts that can manage accounts."""
    app, codename = MANAGE.split(".")
    given = Permission.objects.filter(content_type__app_label=app, codename=codename)
    may = Q(is_superuser=True) | Q(user_permissions__in=given) | Q(groups__permissions__in=given)
    return User.objects.filter(may, UNBOUND, is_active=True, is_staff=True).distinct()


def is_last_manager(login: User) -> bool:
    """Return whether no other account manages accounts; those that do are locked until the transaction ends."""
    with transaction.atomic():
        list(User.objects.select_for_update().filter(pk__in=managers().values("pk")).order_by("pk"))
        keys = set(managers().values_list("pk", flat=True))
    return keys == {login.pk}
