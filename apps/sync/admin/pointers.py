"""Pointers in the admin: links to the memories that they are."""

from uuid import UUID

from django.utils.safestring import SafeString

from apps.core.admin.kit import link, monospace
from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import system_access
from apps.semantic.selectors import memory_get_any


def memory_link(uuid: UUID, *, may_open: bool) -> SafeString:
    """Render a link to a memory; only its id for users who may not see it, or where there is none any more."""
    if may_open:
        try:
            return link("admin:semantic_memory_change", memory_get_any(system_access(), uuid).pk, str(uuid))
        except NotFoundError:
            pass
    return monospace(uuid)
