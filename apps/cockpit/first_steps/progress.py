"""Which of the first steps are done, and the card on the first page that says so."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from apps.cockpit.models import FirstSteps
from apps.core.admin.kit import operator_access
from apps.core.admin.snippets import QUESTION
from apps.core.bounds import is_bound
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Scope
from apps.core.jobs import BackgroundJob
from apps.core.models import ApiKey
from apps.core.selectors import key_list, usable_keys, with_foreign
from apps.semantic.selectors import memory_list

# Whoever leads a hub through them makes a key, and sees the memories of everybody.
NEEDED = ("core.add_apikey", "semantic.view_memory")
# The key that the first start prints is for commands; applications get one of their own.
FIRST_START = "first start"
ROW = 1
# States of the sample household.
ABSENT, COMING, PRESENT, LEAVING, FAILED = "absent", "coming", "present", "leaving", "failed"


@dataclass(frozen=True)
class Progress:
    """Which steps are done. sample: one of the states of the sample household. key: that of the steps."""

    has_key: bool
    is_called: bool
    has_memory: bool
    has_searched: bool
    sample: str
    key: ApiKey | None

    @property
    def is_complete(self) -> bool:
        """Return whether all steps are done."""
        return self.has_key and self.is_called and self.has_memory and self.has_searched

    @property
    def is_over(self) -> bool:
        """Return whether all steps are done, and no sample household is left to be removed."""
        return self.is_complete and self.sample in {ABSENT, FAILED}


def steps_key() -> ApiKey | None:
    """Return the key that the steps are about: the newest that works for the memories of one user."""
    found = usable_keys(utcnow(SYSTEM_CLOCK)).exclude(created_by=FIRST_START).exclude(user_id="")
    return next(iter(with_foreign(found.order_by("-created_at", "-pk")[:1])), None)


def may_make_again(request: HttpRequest, key: ApiKey | None) -> bool:
    """Return whether the viewer made this key, and no application has it yet: then it can get another secret."""
    if key is None or key.last_used_at is not None or not request.user.has_perm("core.change_apikey"):
        return False
    return key.created_by == operator_access(request).actor


def open_steps(request: HttpRequest) -> FirstSteps | None:
    """Return the steps of this hub while they are to be shown; None for other viewers, and once they are over."""
    # The steps are for those who see the whole hub, and may make keys.
    if is_bound(request.user) or not request.user.has_perms(NEEDED):
        return None
    row = FirstSteps.objects.filter(pk=ROW).first()
    if row is None and not memory_list(operator_access(request), Scope(), {}).exists():
        row, _ = FirstSteps.objects.get_or_create(pk=ROW)
    return None if row is None or row.dismissed_at else row


def sample_state(request: HttpRequest, row: FirstSteps) -> str:
    """Return whether the sample household is there, on its way, or could not be brought in or removed."""
    if row.sample_run is not None:
        run = sample_job(is_removal=row.is_removal).results(row.sample_run)
        if run.failed:
            return FAILED
        if not run.finished:
            return LEAVING if row.is_removal else COMING
    memories = memory_list(operator_access(request), Scope(), {})
    return PRESENT if memories.filter(user_id__startswith=settings.SAMPLE["prefix"]).exists() else ABSENT


def sample_job(*, is_removal: bool) -> BackgroundJob:
    """Return what brings in the sample household, or removes it."""
    task: str = settings.SAMPLE["unload" if is_removal else "load"]
    return BackgroundJob(task, "sample")


def steps_part(request: HttpRequest) -> dict[str, Any]:
    """Return what the card shows on a whole page; empty without a card. Once all is over, the next page has none."""
    shown = shown_steps(request)
    if shown and shown["progress"].is_over and request.method == "GET":
        FirstSteps.objects.filter(pk=ROW).update(dismissed_at=utcnow(SYSTEM_CLOCK))
        return {}
    return shown


def shown_steps(request: HttpRequest) -> dict[str, Any]:
    """Return how far the hub is, whose memories the viewer begins with, and a question; empty once that is over."""
    row = open_steps(request)
    if row is None:
        return {}
    memories = memory_list(operator_access(request), Scope(), {})
    is_called = key_list().exclude(last_used_at=None).exists()
    progress = Progress(
        has_key=is_called or key_list().exclude(created_by=FIRST_START).exists(),
        is_called=is_called,
        has_memory=memories.exclude(user_id__startswith=settings.SAMPLE["prefix"]).exists(),
        has_searched=row.searched_at is not None,
        sample=sample_state(request, row),
        key=steps_key(),
    )
    return {
        "progress": progress,
        "whose": progress.key.user_id if progress.key else own_id(request),
        "question": QUESTION,
        "may_make_again": may_make_again(request, progress.key),
    }


def own_id(request: HttpRequest) -> str:
    """Return whose memories the viewer begins with: the person of their account, or their name."""
    account = getattr(request.user, "account", None)
    person: str = account.person_id if account else ""
    return person or request.user.get_username()


def steps_progress(request: HttpRequest) -> dict[str, Any]:
    """Return which steps are done, as the card fetches it again."""
    return {"now": utcnow(SYSTEM_CLOCK), **shown_steps(request)}
