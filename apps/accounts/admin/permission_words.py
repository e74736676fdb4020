"""Permissions in the language of who reads them: Django keeps their names in English, in rows."""

from typing import Any

from django.apps import apps
from django.contrib.auth.models import Permission
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

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
