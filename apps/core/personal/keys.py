"""Forgetting of the keys that are bound to a user, of what others were granted of theirs, and of whom they stopped."""

from collections.abc import Iterator

from django.db import transaction
from django.db.models import F, Func, Q, Value

from apps.core.models import ApiKey, KeyDay
from apps.core.personal.store import PersonalStore
from apps.core.steps import Step, no_step


class KeyErasure(PersonalStore):
    """Counts, forgets and finds keys that name a user: as their bound, among what they may read, or who stopped them.

    Keys that were granted a user go on without the grant, so that it means nothing for one who has the id later.
    """

    def count(self, user_id: str) -> int:
        named = Q(user_id=user_id) | Q(reads__contains=[user_id]) | Q(stopped_by__contains=[user_id])
        return ApiKey.objects.filter(named).count()

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        if removed := remove_keys(user_id):
            yield removed
        for name in ("reads", "stopped_by"):
            naming = ApiKey.objects.filter(**{f"{name}__contains": [user_id]})
            ended = naming.update(**{name: Func(F(name), Value(user_id), function="array_remove")})
            if ended:
                yield ended

    def find(self, user_id: str) -> Iterator[str]:
        if self.count(user_id):
            yield "core_apikey"


@transaction.atomic
def remove_keys(user_id: str) -> int:
    """Delete the keys that are bound to a user, with the counts of their use. Return how many keys."""
    # Locked, so that no process adds a count between the two deletions.
    keys = list(ApiKey.objects.select_for_update().filter(user_id=user_id).values_list("pk", flat=True))
    KeyDay.objects.filter(key_id__in=keys).delete()
    ApiKey.objects.filter(pk__in=keys).delete()
    return len(keys)
