"""The door of `imports` for reads."""

from uuid import UUID

from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import Access, Scope
from apps.imports.models import Import, ImportKind, ImportState
from apps.imports.querysets import ImportQuerySet

__all__ = ["Import", "ImportKind", "ImportState", "import_get", "import_list"]


def import_list(access: Access, scope: Scope | None = None) -> ImportQuerySet:
    """Return the imports inside the bound of the caller, the newest first."""
    return Import.objects.all().visible_to(access, scope).newest_first()


def import_get(access: Access, uuid: UUID) -> Import:
    """Return one import. Raises NotFoundError outside the bound."""
    found = import_list(access).filter(uuid=uuid).first()
    if found is None:
        raise NotFoundError("There is no such import.")
    return found
