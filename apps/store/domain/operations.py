"""What can be done with the store. A namespace is a tuple of labels, compared letter by letter."""

from dataclasses import dataclass
from typing import Any

from apps.core.domain.filters.expression import EVERYTHING, Expression

MAX_LABELS, MAX_LABEL_CHARS, MAX_KEY_CHARS = 20, 200, 500
MAX_TEXT_CHARS, MAX_TTL_MINUTES = 10_000, 10 * 366 * 24 * 60
# Of one request: operations, texts to be embedded, and results of a search or a list.
MAX_OPERATIONS, MAX_TEXTS, MAX_RESULTS, MAX_OFFSET = 500, 500, 1_000, 1_000_000
# In a condition of namespaces: any one label.
ANY_LABEL = "*"
Namespace = tuple[str, ...]


@dataclass(frozen=True)
class Put:
    """Keep a value, instead of the one that is there. value: None to remove it. ttl: in minutes, None for no end.

    texts: by which a search by meaning finds it; none for not at all.
    """

    namespace: Namespace
    key: str
    value: dict[str, Any] | None
    texts: tuple[str, ...] = ()
    ttl: float | None = None


@dataclass(frozen=True)
class Get:
    """Read a value. is_refreshing: it lasts as long again as when it was written."""

    namespace: Namespace
    key: str
    is_refreshing: bool = True


@dataclass(frozen=True)
class Search:
    """Find values below a namespace: by meaning, the nearest first, or without a query the latest first."""

    namespace: Namespace
    where: Expression = EVERYTHING
    query: str = ""
    limit: int = 10
    offset: int = 0
    is_refreshing: bool = True


@dataclass(frozen=True)
class Condition:
    """What namespaces begin with, or end with."""

    path: Namespace
    is_prefix: bool


@dataclass(frozen=True)
class ListNamespaces:
    """List the namespaces that meet every condition, in order. max_depth: to which they are cut."""

    conditions: tuple[Condition, ...] = ()
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0


Operation = Put | Get | Search | ListNamespaces
