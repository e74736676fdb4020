"""Beginning an import."""

from pathlib import Path

from django.db import IntegrityError, transaction

from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError
from apps.core.domain.scope import Access, Permission, Scope
from apps.core.pauses import require_saving
from apps.imports.domain.found import Kind, clean_title
from apps.imports.models import MAX_NAME_CHARS, OPEN_STATES, Import, ImportState


def import_begin(
    *,
    user_id: str,
    kind: Kind,
    name: str,
    asked_by: str,
    from_user: str = "",
    clock: Clock = SYSTEM_CLOCK,
) -> Import:
    """Begin an import, or return the one of the same files that a killed process left.

    Raises ConflictError while another one of the person goes on, PausedError.
    """
    require_saving(Access(Scope(user_id), Permission.WRITE, asked_by), user_id, clock=clock)
    asked = {
        "user_id": user_id,
        "kind": kind.value,
        "name": clean_title(Path(name).name)[:MAX_NAME_CHARS] or kind.value,
        "from_user": from_user,
        "state": ImportState.RUNNING,
        "asked_by": asked_by,
    }
    try:
        with transaction.atomic():
            hold_users([user_id])
            return Import.objects.create(**asked, asked_at=utcnow(clock))
    except IntegrityError as error:
        if (left := Import.objects.filter(**asked, until__isnull=True).first()) is not None:
            return left
        open_one = Import.objects.filter(user_id=user_id, state__in=OPEN_STATES).first()
        which = f" ({open_one.uuid})" if open_one else ""
        detail = f"Another import of this person{which} goes on. Finish it, or undo it, before you begin one."
        raise ConflictError(detail, code="import_open") from error
