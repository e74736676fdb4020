"""Tasks of django-q2 for the store."""

from apps.store.services import store_clear, store_reembed


def tidy() -> None:
    """Remove what has expired, and make vectors again after the embedding model has changed; every ten minutes."""
    store_clear()
    store_reembed()
