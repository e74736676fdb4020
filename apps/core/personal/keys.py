"""Forgetting of the keys that are bound to a user."""

from collections.abc import Iterator

from apps.core.models import ApiKey
from apps.core.personal.erase import delete_in_parts
from apps.core.personal.store import PersonalStore
from apps.core.steps import Step, no_step


class KeyErasure(PersonalStore):
    """Counts, forgets and finds keys of a user."""

    def count(self, user_id: str) -> int:
        return ApiKey.objects.filter(user_id=user_id).count()

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        yield from delete_in_parts(ApiKey.objects.filter(user_id=user_id))

    def find(self, user_id: str) -> Iterator[str]:
        if self.count(user_id):
            yield "core_apikey"
