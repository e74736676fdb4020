"""The stores of personal data that the installed apps have registered."""

from collections.abc import Iterable

from apps.core.personal.store import PersonalStore

_stores: dict[str, PersonalStore] = {}


def register_store(store: PersonalStore) -> None:
    """Register a store. Raises ValueError when one of its name, of its order or of one of its kinds is there."""
    for other in _stores.values():
        if other.name == store.name or other.order == store.order or set(other.kinds) & set(store.kinds):
            raise ValueError(f"The store {store.name} is in the way of {other.name}.")
    _stores[store.name] = store


def register_stores(stores: Iterable[PersonalStore]) -> None:
    """Register the stores of an app."""
    for store in stores:
        register_store(store)


def personal_stores() -> list[PersonalStore]:
    """Return every store, those that others refer to first."""
    return sorted(_stores.values(), key=lambda store: store.order)


def store_of_kind(kind: str) -> PersonalStore | None:
    """Return the store whose lines are of a kind."""
    return next((store for store in _stores.values() if kind in store.kinds), None)
