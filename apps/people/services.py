"""The door of `people` for writes."""

from apps.people.downloads.request import download_remove, download_request
from apps.people.erasure.digest import user_digest
from apps.people.erasure.request import erasure_preview, erasure_request
from apps.people.erasure.run import erasure_run
from apps.people.leaving.plan import erasure_plan, plan_take_back
from apps.people.looking.look import look_begin, look_end, look_note

__all__ = [
    "download_remove",
    "download_request",
    "erasure_plan",
    "erasure_preview",
    "erasure_request",
    "erasure_run",
    "look_begin",
    "look_end",
    "look_note",
    "plan_take_back",
    "user_digest",
]
