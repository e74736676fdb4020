"""The door of `imports` for reads."""

from uuid import UUID

from apps.core.domain.errors import NotFoundError, UnavailableError
from apps.core.domain.scope import Access, Scope
from apps.imports.models import OPEN_STATES, UPLOADED_STATES, Import, ImportKind, ImportState
from apps.imports.querysets import ImportQuerySet
from apps.imports.uploads.files import UPLOADS

__all__ = [
    "OPEN_STATES",
    "UPLOADED_STATES",
    "Import",
    "ImportKind",
    "ImportState",
    "has_file",
    "import_get",
    "import_list",
]


def import_list(access: Access, scope: Scope | None = None) -> ImportQuerySet:
    """Return the imports inside the bound of the caller, the newest first."""
    return Import.objects.all().visible_to(access, scope).newest_first()


def import_get(access: Access, uuid: UUID) -> Import:
    """Return one import. Raises NotFoundError outside the bound."""
    found = import_list(access).filter(uuid=uuid).first()
    if found is None:
        raise NotFoundError("There is no such import.")
    return found


def has_file(record: Import) -> bool:
    """Return whether the file of an import is still there, as far as is known."""
    try:
        return UPLOADS.is_there(record.uuid)
    except UnavailableError:
        return True
