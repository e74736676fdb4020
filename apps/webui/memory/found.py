"""The memory that an address names."""

from uuid import UUID

from django.http import Http404

from apps.core.domain.errors import NotFoundError
from apps.semantic.selectors import Memory, memory_get_any
from apps.webui.person import Person


def found_or_404(person: Person, uuid: UUID) -> Memory:
    """Return a memory of the person's, deleted or not. Raises Http404."""
    try:
        return memory_get_any(person.access, uuid)
    except NotFoundError:
        raise Http404 from None
