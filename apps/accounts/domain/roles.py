"""Roles: named sets of permissions, written as patterns so that permissions made later belong to them too."""

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Role:
    """What people with one kind of work may do.

    name: of its group. summary: one sentence for forms. allows: patterns of permissions, such as `semantic.view_*`.
    """

    name: str
    summary: str
    allows: tuple[str, ...]

    def has(self, permission: str) -> bool:
        """Return whether a permission, such as `semantic.view_memory`, belongs to the role."""
        return any(fnmatchcase(permission, pattern) for pattern in self.allows)


def model_of(permission: str) -> str:
    """Return the model that a permission is about: `semantic.memory` of `semantic.view_memory`."""
    app, _, codename = permission.partition(".")
    return f"{app}.{codename.partition('_')[2]}"
