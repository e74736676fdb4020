"""The forms of accounts: a role, what the account is bound to, and permissions in the language of the reader."""

from typing import Any

from django import forms
from django.apps import apps
from django.contrib.auth.models import Group, Permission
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _
from unfold.forms import UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminSelectWidget

from apps.accounts.roles import MANAGE, all_roles, is_last_manager, names_of
from apps.accounts.services import UNBOUND_SUPERUSER
from apps.core.admin.key_forms import IdentifierInput, OwnersField
from apps.core.domain.scope import IDENTIFIERS, MAX_IDENTIFIER_CHARS, Scope

NAMES = ("permissions", "user_permissions")
ACTIONS = {
    "add": _("Can add %(name)s"),
    "change": _("Can change %(name)s"),
    "delete": _("Can delete %(name)s"),
    "view": _("Can view %(name)s"),
}
# Of our own, and of apps without a name in the catalogs of their own.
OTHERS = (
    gettext_noop("Can deliver again"),
    gettext_noop("authenticator"),
    gettext_noop("user session"),
    gettext_noop("Background work"),
    gettext_noop("Audit"),
    gettext_noop("Cockpit"),
    gettext_noop("Models"),
    gettext_noop("People"),
    gettext_noop("Numbers over time"),
)
LAST_MANAGER = _("No other account could manage accounts any more. Give another account the role Owner first.")
LABELS = {"user_id": _("User"), "household_id": _("Household"), "persona_id": _("Persona")}


def say_permission(permission: Permission) -> str:
    """Return the app, the model and what the permission allows."""
    kind = permission.content_type
    model = kind.model_class()
    if model is None:
        return str(permission)
    name, action = gettext(str(model._meta.verbose_name)), permission.codename.removesuffix(f"_{kind.model}")
    words = ACTIONS[action] % {"name": name} if action in ACTIONS else gettext(permission.name)
    return f"{gettext(str(apps.get_app_config(kind.app_label).verbose_name))} | {name} | {words}"


class PermissionWords:
    """An admin whose form offers permissions in the language of who reads them."""

    def formfield_for_manytomany(self, db_field: Any, request: Any = None, **kwargs: Any) -> Any:
        """Return the field, with permissions in words."""
        field = super().formfield_for_manytomany(db_field, request, **kwargs)  # type: ignore[misc]
        if field is not None and db_field.name in NAMES:
            field.label_from_instance = say_permission
        return field


def role_names() -> list[str]:
    """Return the names of the roles."""
    return [role.name for role in all_roles()]


def role_choices() -> list[tuple[str, str]]:
    """Return the roles as choices, each with what it may do."""
    return [
        ("", gettext("None: no access")),
        *((role.name, f"{gettext(role.name)}: {gettext(role.summary)}") for role in all_roles()),
    ]


def identifier_field(name: str) -> forms.CharField:
    """Return the field of a part of the bound, which suggests the ids there are."""
    return forms.CharField(
        label=LABELS[name], required=False, max_length=MAX_IDENTIFIER_CHARS, widget=IdentifierInput()
    )


class AccountFields(forms.Form):
    """The fields that a new and an existing account have in common."""

    role = forms.ChoiceField(label=_("Role"), required=False, choices=role_choices, widget=UnfoldAdminSelectWidget())
    user_id = identifier_field("user_id")
    household_id = identifier_field("household_id")
    persona_id = identifier_field("persona_id")
    reads = OwnersField(
        required=False,
        label=_("May also read"),
        help_text=_("Users and teams, such as team:platform. Save to get more fields."),
    )

    def scope(self) -> Scope:
        """Return the bound that was entered."""
        return Scope(*(self.cleaned_data.get(name) or None for name in IDENTIFIERS))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        is_bound = self.scope() != Scope()
        is_superuser = cleaned.get("is_superuser", getattr(getattr(self, "instance", None), "is_superuser", False))
        if is_bound and is_superuser:
            raise ValidationError(gettext(UNBOUND_SUPERUSER))
        if cleaned.get("reads") and not is_bound:
            raise ValidationError({"reads": gettext("An account without a bound can already read everything.")})
        return cleaned


class AccountChangeForm(AccountFields, UserChangeForm):
    """An existing account."""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if not self.keeps_managing(cleaned) and is_last_manager(self.instance):
            raise ValidationError(LAST_MANAGER)
        return cleaned

    def keeps_managing(self, cleaned: dict[str, Any]) -> bool:
        """Return whether the account could manage accounts as it was entered."""
        if not cleaned.get("is_active", True) or self.scope() != Scope():
            return False
        given = Permission.objects.filter(group__in=cleaned.get("groups") or ())
        alone = cleaned.get("user_permissions", self.instance.user_permissions.all())
        role = next((one for one in all_roles() if one.name == cleaned.get("role")), None)
        return (
            cleaned.get("is_superuser", self.instance.is_superuser)
            or (role is not None and role.has(MANAGE))
            or MANAGE in names_of(given) | names_of(alone)
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        groups = set(self.instance.groups.values_list("name", flat=True))
        self.initial["role"] = next((name for name in role_names() if name in groups), "")
        account = getattr(self.instance, "account", None)
        for name in (*IDENTIFIERS, "reads"):
            self.initial[name] = getattr(account, name) if account else ""
        groups_field = self.fields.get("groups")
        if isinstance(groups_field, forms.ModelMultipleChoiceField):
            groups_field.queryset = Group.objects.exclude(name__in=role_names())
            groups_field.label = gettext("Groups of your own")


class AccountCreationForm(AccountFields, UserCreationForm):
    """A new account."""
