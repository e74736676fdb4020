"""Roles: what each may, and that migrations keep them up to date."""

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command

from apps.accounts.roles import all_roles, roles_ensure
from apps.accounts.services import account_create, account_set_role
from apps.core.domain.errors import InvalidInputError
from apps.semantic.models import Memory

pytestmark = pytest.mark.django_db

CASES = [
    ("Viewer", {"semantic.view_memory", "events.view_event"}, {"semantic.change_conflict", "core.view_apikey"}),
    (
        "Reviewer",
        {"semantic.change_conflict", "notes.change_noteversion"},
        {"rules.change_mergerule", "auth.view_user"},
    ),
    ("Operator", {"rules.change_mergerule", "core.add_apikey", "django_q.change_schedule"}, {"auth.change_user"}),
    ("Owner", {"auth.change_user", "accounts.change_account", "core.add_apikey"}, set()),
]


@pytest.mark.parametrize(("role", "allowed", "refused"), CASES)
def test_a_role_may_what_it_says(role: str, allowed: set[str], refused: set[str]) -> None:
    login = account_create(username="ana", role=role)
    permissions = User.objects.get(pk=login.pk).get_all_permissions()
    assert allowed <= permissions
    assert not refused & permissions
    assert login.is_staff


def test_permissions_made_later_belong_to_roles_after_the_next_migration() -> None:
    kind = ContentType.objects.get_for_model(Memory)
    Permission.objects.create(content_type=kind, codename="view_tomorrow", name="made later")
    viewer = Group.objects.get(name="Viewer")
    viewer.permissions.remove(Permission.objects.get(codename="view_memory"))
    viewer.permissions.add(Permission.objects.get(codename="delete_memory"))
    call_command("migrate", verbosity=0)
    names = set(viewer.permissions.values_list("codename", flat=True))
    assert {"view_tomorrow", "view_memory"} <= names
    assert "delete_memory" not in names


def test_roles_are_ensured_twice_without_a_change(django_assert_max_num_queries: object) -> None:
    before = sorted(Group.permissions.through.objects.values_list("group_id", "permission_id"))
    roles_ensure()
    assert sorted(Group.permissions.through.objects.values_list("group_id", "permission_id")) == before


def test_an_account_has_one_role_and_none_keeps_it_out() -> None:
    login = account_create(username="ana", role="Viewer")
    account_set_role(login=login, role="Owner")
    assert [group.name for group in login.groups.all()] == ["Owner"]
    account_set_role(login=login, role="")
    assert not User.objects.get().is_staff
    with pytest.raises(InvalidInputError):
        account_set_role(login=login, role="King")


def test_every_role_has_a_group() -> None:
    assert {role.name for role in all_roles()} <= set(Group.objects.values_list("name", flat=True))
