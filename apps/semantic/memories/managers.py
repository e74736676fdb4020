"""What writes managed memories, and that nothing else changes them (docs/guides/memories.md).

A manager is named `<kind>:<name>`, such as `sync:` and the id of a source of knowledge. The app that writes memories of
a kind registers which of these exist: a memory whose manager is gone, as after an import from another hub, may be
deleted by those who may write it.
"""

from collections.abc import Callable, Iterable

from apps.core.domain.errors import ConflictError
from apps.semantic.models import Memory

DETAIL = "This memory follows an item of knowledge: change the item where it is kept."

_checks: dict[str, Callable[[str], bool]] = {}


def manager_register(kind: str, exists: Callable[[str], bool]) -> None:
    """Register what says whether a manager of a kind exists, by its whole name."""
    _checks[kind] = exists


def manager_exists(manager: str) -> bool:
    """Return whether a manager exists, so that its memories are kept up to date."""
    check = _checks.get(manager.partition(":")[0])
    return check is not None and check(manager)


def existing_managers(managers: Iterable[str]) -> list[str]:
    """Return those of some managers that exist, each once."""
    return [manager for manager in sorted(set(managers)) if manager and manager_exists(manager)]


def require_unmanaged(memory: Memory) -> None:
    """Raise ConflictError for a managed memory."""
    if memory.managed_by:
        raise ConflictError(DETAIL, code="managed")


def require_deletable(memory: Memory) -> None:
    """Raise ConflictError for a managed memory whose manager exists."""
    if memory.managed_by and manager_exists(memory.managed_by):
        raise ConflictError(DETAIL, code="managed")
