"""The door of `store`."""

from apps.store.batch import store_clear, store_reembed, store_run
from apps.store.domain.filters import read_filter

__all__ = ["read_filter", "store_clear", "store_reembed", "store_run"]
