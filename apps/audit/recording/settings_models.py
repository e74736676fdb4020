"""Objects of settings: whatever saves one, the changed fields are noted for the entry of the request or command.

A statement that updates rows without saving objects is not seen; `note_change` notes what such a service does.
"""

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_save, pre_delete, pre_save

from apps.audit.recording.notes import current_recording, note_change
from apps.core.domain.scope import IDENTIFIERS, Scope
from apps.core.personal.columns import json_value

UID = "audit of settings"
MAX_NAMES = 20


def watch_settings() -> None:
    """Note changes of the models that the tables of the hub name."""
    for label in import_module(settings.AUDIT_TABLES).MODELS:
        model = apps.get_model(label)
        pre_save.connect(on_save, sender=model, dispatch_uid=UID)
        post_save.connect(on_created, sender=model, dispatch_uid=UID)
        pre_delete.connect(on_delete, sender=model, dispatch_uid=UID)
        for relation in model._meta.many_to_many:
            m2m_changed.connect(on_members, sender=getattr(model, relation.name).through, dispatch_uid=UID)


def on_save(sender: type[Model], instance: Model, raw: bool = False, **_: Any) -> None:
    """Note what is about to change of an object."""
    if raw or instance._state.adding or current_recording() is None:
        return
    old = sender._default_manager.filter(pk=instance.pk).first()
    if old is not None:
        note(instance, values_of(old), values_of(instance))


def on_created(sender: type[Model], instance: Model, created: bool, raw: bool = False, **_: Any) -> None:
    """Note what a new object is."""
    if created and not raw and current_recording() is not None:
        note(instance, {}, values_of(instance))


def on_delete(sender: type[Model], instance: Model, **_: Any) -> None:
    """Note what an object was that is about to be deleted."""
    if current_recording() is not None:
        note(instance, values_of(instance), {})


def note(instance: Model, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Note what changes of an object."""
    note_change(
        before,
        after,
        object_type=instance._meta.label_lower,
        object_id=instance.pk,
        name=name_of(instance),
        scope=scope_of_object(instance),
    )


def on_members(sender: Any, instance: Model, action: str, pk_set: Iterable[Any] | None, model: Any, **_: Any) -> None:
    """Note which groups or permissions an account or a role gains or loses."""
    if current_recording() is None or action not in {"post_add", "post_remove", "pre_clear"}:
        return
    if action == "pre_clear":
        related = next(r for r in instance._meta.many_to_many if r.remote_field.through is sender)
        members = list(getattr(instance, related.name).all()[: MAX_NAMES + 1])
    else:
        members = list(model._default_manager.filter(pk__in=pk_set or ())[: MAX_NAMES + 1])
    if not members:
        return
    names = ", ".join(sorted(str(member) for member in members[:MAX_NAMES])) + (
        ", …" if len(members) > MAX_NAMES else ""
    )
    field = f"{model._meta.verbose_name_plural} {'gained' if action == 'post_add' else 'lost'}"
    change = ({}, {field: names}) if action == "post_add" else ({field: names}, {})
    note_change(*change, object_type=instance._meta.label_lower, object_id=instance.pk, name=name_of(instance))


def values_of(instance: Model) -> dict[str, Any]:
    """Return the columns of an object as JSON values."""
    return {field.attname: json_value(getattr(instance, field.attname)) for field in instance._meta.concrete_fields}


def name_of(instance: Model) -> str:
    """Return what people call an object: its name, where it has one."""
    named = getattr(instance, "name", None) or getattr(instance, "username", None)
    return named if isinstance(named, str) else ""


def scope_of_object(instance: object) -> Scope:
    """Return the scope that a row is of or bound to."""
    found = (getattr(instance, name, None) for name in IDENTIFIERS)
    return Scope(*(value if isinstance(value, str) and value else None for value in found))
