"""The door of `people` for writes."""

from apps.people.erasure.digest import user_digest
from apps.people.erasure.request import erasure_preview, erasure_request
from apps.people.erasure.run import erasure_run

__all__ = ["erasure_preview", "erasure_request", "erasure_run", "user_digest"]
