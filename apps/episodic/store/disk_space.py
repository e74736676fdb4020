"""Whether there is room to write a segment."""

import shutil

from django.conf import settings

from apps.core.domain.errors import UnavailableError
from apps.episodic.store.files import archive_dir

_MIB = 1024 * 1024


class DiskNearlyFullError(UnavailableError):
    """Nothing was written: the little room that is left is for the database."""

    code = "disk_nearly_full"


def free_mb() -> float:
    """Return how many MiB are free where segments are kept."""
    return shutil.disk_usage(archive_dir()).free / _MIB


def require_room() -> None:
    """Raise DiskNearlyFullError when less than `min_free_mb` is free."""
    free, least = free_mb(), settings.MEMORYHUB.timeline.min_free_mb
    if free < least:
        raise DiskNearlyFullError(f"{free:.0f} MiB are free, and {least} MiB must stay so.", retry_after=600)
