"""Every ModelAdmin of the site writes into the audit instead of Django's log, and shows the history from there."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib.admin import ModelAdmin
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from apps.audit.recording.notes import note_object
from apps.audit.recording.settings_models import scope_of_object


class AuditedAdmin:
    """Notes each object that is added, changed or deleted, for the entry of the request.

    Django's own log goes with the account that it names, and this does not.
    """

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> None:
        """Note a new object."""
        note_of(obj, message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> None:
        """Note a change."""
        note_of(obj, message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> None:
        """Note what is about to be deleted."""
        for obj in queryset:
            note_of(obj, "")

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """Redirect to the entries about an object."""
        model_admin: Any = self
        about = {"object_type": model_admin.opts.label_lower, "object_id": object_id}
        return HttpResponseRedirect(f"{reverse('admin:index')}audit/?{urlencode(about)}")


def note_of(obj: Model, message: Any) -> None:
    """Note an object. message: a sentence of a page; lists of fields are noted by their values already."""
    said = message if isinstance(message, str) and not message.startswith("[") else ""
    note_object(obj._meta.label_lower, obj.pk, said=said, scope=scope_of_object(obj))


def audited(admin_class: type[ModelAdmin[Any]]) -> type[ModelAdmin[Any]]:
    """Return a ModelAdmin that is audited, under its own name."""
    if issubclass(admin_class, AuditedAdmin):
        return admin_class
    metaclass: Any = type(admin_class)
    made: Any = metaclass(admin_class.__name__, (AuditedAdmin, admin_class), {"__doc__": admin_class.__doc__})
    made.__module__, made.__qualname__ = admin_class.__module__, admin_class.__qualname__
    return made
