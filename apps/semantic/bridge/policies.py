"""Routing policies: which events of the timeline become memories, and as what (docs/guides/events-to-memories.md)."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from apps.core.domain.errors import NotFoundError
from apps.episodic.domain.event import EVENT_TYPE_HINT, EVENT_TYPE_PATTERN
from apps.episodic.selectors import latest_kinds
from apps.semantic.domain.routing import EventFacts, RoutingTable
from apps.semantic.models import RoutingPolicy

PREVIEWED_EVENTS = 10_000
SETTINGS = (
    "enabled", "household_id", "priority", "min_importance", "event_types", "memory_type", "decay_policy", "source",
    "confidence", "on_prune",
)  # fmt: skip


def routing_table() -> RoutingTable:
    """Return the policies as they are now. A small query, asked once for a batch of events, so nothing is cached."""
    return RoutingTable(policy.criteria for policy in RoutingPolicy.objects.all())


def policies_named(names: Iterable[str]) -> dict[str, RoutingPolicy]:
    """Return the policies of these names that exist, by name."""
    return {policy.name: policy for policy in RoutingPolicy.objects.filter(name__in=set(names))}


def policy_preview(policy: RoutingPolicy) -> tuple[int, int]:
    """Return of how many of the last events a policy would make memories if it were enabled, and how many those are.

    They are judged beside all other policies as they are. Changes nothing.
    """
    others = RoutingPolicy.objects.exclude(pk=policy.pk)
    table = RoutingTable([replace(policy.criteria, is_enabled=True), *(other.criteria for other in others)])
    kinds = latest_kinds(PREVIEWED_EVENTS)
    decisions = (table.judge(EventFacts(*kind)).policy for kind in kinds)
    return sum(1 for one in decisions if one and one.name == policy.name), len(kinds)


def policy_create(*, name: str, settings: Mapping[str, Any] | None = None) -> RoutingPolicy:
    """Create a policy; disabled unless `settings` say otherwise. Raises ValidationError."""
    policy = RoutingPolicy(name=name, **check_settings(settings or {}))
    policy.full_clean()
    policy.save(force_insert=True)
    return policy


@transaction.atomic
def policy_update(*, pk: int, settings: Mapping[str, Any]) -> RoutingPolicy:
    """Change settings; pending events are judged by them, too. Raises NotFoundError, ValidationError."""
    policy = lock_policy(pk)
    for name, value in check_settings(settings).items():
        setattr(policy, name, value)
    policy.full_clean()
    policy.save()
    return policy


@transaction.atomic
def policy_delete(*, pk: int) -> None:
    """Delete a policy. Its memories stay, and what it says about pruned events still applies. Raises NotFoundError."""
    lock_policy(pk).delete()


def lock_policy(pk: int) -> RoutingPolicy:
    """Return a policy, locked until the transaction ends. Raises NotFoundError."""
    policy = RoutingPolicy.objects.select_for_update().filter(pk=pk).first()
    if policy is None:
        raise NotFoundError("There is no such policy.")
    return policy


def check_event_types(types: Iterable[str]) -> list[str]:
    """Return event types, once each. Raises ValidationError for one that no event can have: it would never match."""
    known = sorted({kind.strip() for kind in types} - {""})
    impossible = [kind for kind in known if not re.fullmatch(EVENT_TYPE_PATTERN[1:-1], kind)]
    if impossible:
        raise ValidationError(f"No event has the type {impossible[0][:50]!r}: a type is {EVENT_TYPE_HINT}.")
    return known


def check_settings(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return settings with checked event types. Raises ValidationError."""
    unknown = settings.keys() - set(SETTINGS)
    assert not unknown, unknown
    if "event_types" not in settings:
        return settings
    try:
        return {**settings, "event_types": check_event_types(settings["event_types"])}
    except ValidationError as error:
        raise ValidationError({"event_types": error.messages}) from error
