"""The forgetting of a person is killed at every one of its steps, and goes on to the same certificate."""

import time
from typing import Any

import pytest

from apps.accounts.models import Account
from apps.accounts.services import person_create
from apps.core.models import LockedUser
from apps.people.downloads.make import downloads_continue
from apps.people.downloads.request import download_request
from apps.people.erasure.run import erasure_run
from apps.people.leaving import erasure_plan, plans_begin
from apps.people.models import Erasure, PlannedErasure
from apps.people.schemas.erasures import render_certificate
from apps.people.services import erasure_preview, erasure_request
from tests.integration.episodic.timeline import Timeline
from tests.integration.people.person import OTHERS, PERSON, WORD, fill, kept_of_others, traces
from tests.system.killed_erasure import die_forgetting

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("killed")]
NAME = f"{PERSON}-signs-in"
MOST_STEPS, TRIES = 200, 100


@pytest.fixture(autouse=True)
def hub(settings: Any, tmp_path: Any, timeline_dir: Any) -> None:
    settings.SEMANTIC_INDEX_DIR = tmp_path / "semantic-index"
    settings.DOWNLOADS_DIR = tmp_path / "downloads"
    timeline = Timeline()
    fill(OTHERS[0], "other0word", archive=timeline)
    fill(PERSON, WORD, archive=timeline)


def end(erasure: Erasure) -> Erasure:
    """Continue as the schedule does: the database may hold the locks of the killed process for a moment longer."""
    for _ in range(TRIES):
        erasure = erasure_run(erasure_id=erasure.pk)
        if not erasure.is_open:
            break
        time.sleep(0.1)
    return erasure


def test_it_goes_on_wherever_it_is_killed() -> None:
    before, found = kept_of_others(), dict(erasure_preview(PERSON))
    erasure = erasure_request(user_id=PERSON, actor="test", enqueue=False)
    # Each run comes one step further than the last one that was killed, so each step is the last one of some run. A
    # run that finds the locks of the last one still held takes no step, and does not count.
    kills = 0
    for _ in range(MOST_STEPS):
        kills += die_forgetting(erasure.pk, kills + 1)
        erasure.refresh_from_db()
        if not erasure.is_open:
            break
    assert kills >= 10
    certificate = render_certificate(erasure)
    assert certificate is not None
    assert certificate["removed"] == found
    assert traces(PERSON, WORD) == []
    assert kept_of_others() == before
    assert not LockedUser.objects.exists()
    assert end(erasure).state == "finished"


@pytest.mark.parametrize("steps", [1, 2, 3, 5, 8, 12, 16, 20, 25, 30])
def test_one_kill_changes_nothing_of_the_certificate(steps: int) -> None:
    before, found = kept_of_others(), dict(erasure_preview(PERSON))
    erasure = erasure_request(user_id=PERSON, actor="test", enqueue=False)
    die_forgetting(erasure.pk, steps)
    erasure = end(erasure)
    certificate = render_certificate(erasure)
    assert certificate is not None
    assert certificate["removed"] == found
    assert traces(PERSON, WORD) == []
    assert kept_of_others() == before


def test_what_a_person_asked_for_goes_on_wherever_it_is_killed() -> None:
    person_create(username=NAME, person_id=PERSON)
    download_request(user_id=PERSON, language="en", time_zone="UTC")
    downloads_continue()
    plan = erasure_plan(user_id=PERSON, keeps_account=True, actor=f"person:{PERSON}")
    PlannedErasure.objects.update(due_at=plan.requested_at)
    plans_begin()
    erasure, kills = Erasure.objects.get(uuid=plan.uuid), 0
    for _ in range(MOST_STEPS):
        kills += die_forgetting(erasure.pk, 2 * kills + 1)
        erasure.refresh_from_db()
        if not erasure.is_open:
            break
    assert kills >= 5
    erasure = end(erasure)
    assert (erasure.state, erasure.logins, erasure.problems) == ("finished", [], [])
    assert traces(WORD) == []
    assert set(traces(PERSON)) <= {"accounts_account", "audit_auditentry", "auth_user"}
    account = Account.objects.get(login__username=NAME)
    assert (account.user_id, account.person_id) == (PERSON, PERSON)
    assert not LockedUser.objects.exists()
