"""Readiness of the timeline (spec 000, Warm restart)."""

from apps.core.domain.errors import UnavailableError
from apps.episodic.store.file_cache import TimelineLoadingError, archive_cache


def timeline_ready() -> str | None:
    """Whether this process knows the archived segments, so that it answers queries; asking makes it load them."""
    try:
        archive_cache().refresh()
    except TimelineLoadingError as error:
        return error.progress
    except UnavailableError as error:
        return error.detail
    return None
