"""The store of erasures."""

from collections.abc import Iterator

from apps.core.personal.store import PersonalStore
from apps.core.steps import Step, no_step
from apps.people.models import Erasure


class ErasureStore(PersonalStore):
    """The records of erasures. One holds an id only while it is open, and clears it with its last step."""

    name = "erasures"
    order = 100
    models = (Erasure,)

    def count(self, user_id: str) -> int:
        return 0

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        return iter(())

    def find(self, user_id: str) -> Iterator[str]:
        return iter(())


STORES = (ErasureStore(),)
