"""The groups of roles, which each migration brings up to date, and what accounts may give each other.

None gives more than it has itself, and one that manages accounts is always left.
"""

from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import Group, Permission, User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.module_loading import import_string

from apps.accounts.domain.roles import Role

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


def all_roles() -> tuple[Role, ...]:
    """Return the roles that settings.ROLES names, the one that may least first."""
    found: tuple[Role, ...] = import_string(settings.ROLES)
    return found


@transaction.atomic
def roles_ensure() -> None:
    """Create the groups of the roles, and set their permissions to those that exist now."""
    known = {
        f"{app}.{codename}": pk
        for pk, app, codename in list(Permission.objects.values_list("pk", "content_type__app_label", "codename"))
    }
    through = Group.permissions.through
    for role in all_roles():
        group, _ = Group.objects.get_or_create(name=role.name)
        wanted = {pk for name, pk in known.items() if role.has(name)}
        given = set(through.objects.filter(group=group).values_list("permission_id", flat=True))
        through.objects.filter(group=group, permission_id__in=given - wanted).delete()
        through.objects.bulk_create(
            [through(group_id=group.pk, permission_id=pk) for pk in sorted(wanted - given)], ignore_conflicts=True
        )


def ensure_after_migration(sender: Any, **_: Any) -> None:
    """Bring the roles up to date once a migration has made all permissions: with the last app that has models."""
    with_models = [config for config in apps.get_app_configs() if config.models_module is not None]
    if sender == with_models[-1]:
        roles_ensure()
