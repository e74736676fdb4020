"""The groups of roles, which each migration brings up to date."""

from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import Group, Permission
from django.db import transaction
from django.utils.module_loading import import_string

from apps.accounts.domain.roles import Role


def all_roles() -> tuple[Role, ...]:
    """Return the roles that settings.ROLES names, the one that may least first."""
    found: tuple[Role, ...] = import_string(settings.ROLES)
    return found


@transaction.atomic
def roles_ensure() -> None:
    """Create the groups of the roles, and set their permissions to those that exist now."""
    known = {f"{app}.{codename}": pk for pk, app, codename in permissions_by_name()}
    through = Group.permissions.through
    for role in all_roles():
        group, _ = Group.objects.get_or_create(name=role.name)
        wanted = {pk for name, pk in known.items() if role.has(name)}
        given = set(through.objects.filter(group=group).values_list("permission_id", flat=True))
        through.objects.filter(group=group, permission_id__in=given - wanted).delete()
        through.objects.bulk_create(
            [through(group_id=group.pk, permission_id=pk) for pk in sorted(wanted - given)], ignore_conflicts=True
        )


def permissions_by_name() -> list[tuple[int, str, str]]:
    """Return the key, the app and the codename of every permission."""
    return list(Permission.objects.values_list("pk", "content_type__app_label", "codename"))


def ensure_after_migration(sender: Any, **_: Any) -> None:
    """Bring the roles up to date once a migration has made all permissions: with the last app that has models."""
    with_models = [config for config in apps.get_app_configs() if config.models_module is not None]
    if sender == with_models[-1]:
        roles_ensure()
