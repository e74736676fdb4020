"""The store of calls of chat models."""

from collections.abc import Iterator

from django.db import transaction
from django.db.models import Q, QuerySet

from apps.core.personal.erase import ROWS_AT_ONCE
from apps.core.personal.registry import register_stores
from apps.core.personal.store import UserTable
from apps.core.steps import Step, no_step
from apps.llm.models import ModelCall


class CallStore(UserTable):
    """Calls of chat models with their prompts. They are not exported: they say what this hub did and paid.

    Of calls that name no user (they were made before calls did) the kept texts go, since the hub
    cannot say whose they are. What they used and cost stays.
    """

    name = "model_calls"
    order = 80
    models = (ModelCall,)

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        yield from super().forget(user_id, step)
        while empty_part():
            yield 0

    def find(self, user_id: str) -> Iterator[str]:
        if self.count(user_id) or unattributed().exists():
            yield "llm_modelcall"


def unattributed() -> QuerySet[ModelCall]:
    """Return the calls whose texts are kept, and that name no user."""
    return ModelCall.objects.filter(Q(prompt__isnull=False) | Q(answer__isnull=False), user_id="")


@transaction.atomic
def empty_part() -> int:
    """Empty the texts of some calls that name no user, and return how many."""
    keys = list(unattributed().order_by("pk").values_list("pk", flat=True)[:ROWS_AT_ONCE])
    return ModelCall.objects.filter(pk__in=keys).update(prompt=None, answer=None)


register_stores((CallStore(),))
