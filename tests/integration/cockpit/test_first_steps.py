"""The first steps of a fresh hub: who sees them, what they do, and when they are over."""

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_q.models import OrmQ

from apps.cockpit.models import FirstSteps
from apps.core.domain.scope import Permission, Scope
from apps.core.models import ApiKey, LockedUser
from apps.core.services import key_create
from apps.semantic.models import Memory
from memoryhub.sample import PREFIX
from memoryhub.tasks import sample_load, sample_unload
from tests.api import MEMORIES, Api
from tests.integration.admin.pages import text_of

pytestmark = pytest.mark.django_db

NOW = reverse("admin:index")
TITLE = "First steps"


def post(client: Client, name: str, **data: str) -> str:
    response = client.post(reverse(f"cockpit_{name}"), data, follow=True)
    assert response.status_code == 200
    return unescape(response.content.decode())


def done(client: Client) -> int:
    return text_of(client, reverse("cockpit_first_steps")).count('class="mh-done"')


def test_a_fresh_hub_leads_to_the_first_search(operator: Client) -> None:
    assert TITLE in text_of(operator, NOW)
    assert done(operator) == 0
    page = post(operator, "first_key", user_id="ana")
    [secret] = set(re.findall(r"Bearer (mh_[\w-]+)", page))
    assert page.count(secret) == 2  # in the call by curl, and in that by Python
    key = ApiKey.objects.get()
    assert (key.user_id, key.permission) == ("ana", "write")
    assert key.expires_at is not None
    assert secret not in text_of(operator, NOW)
    assert done(operator) == 1
    call = Api(secret)
    assert call.post(MEMORIES, {"content": "The heating is serviced in October"}).status_code == 201
    assert done(operator) == 3
    assert "The first call has arrived" in text_of(operator, reverse("cockpit_first_steps"))
    page = post(operator, "first_search", question="when is the heating serviced?")
    assert "The heating is serviced in October" in page
    assert reverse("admin:semantic_memory_change", args=[Memory.objects.get().pk]) in page
    assert done(operator) == 4
    assert TITLE not in text_of(operator, NOW)  # all is done
    assert done(operator) == 0


def test_a_first_memory_can_be_saved_by_hand(operator: Client) -> None:
    text_of(operator, NOW)
    assert "Now search for it" in post(operator, "first_memory", content="The key is under the mat")
    assert Memory.objects.get().user_id == "operator"
    assert done(operator) == 1


def test_a_lost_key_is_made_again_until_it_is_used(operator: Client) -> None:
    text_of(operator, NOW)
    [lost] = set(re.findall(r"Bearer (mh_[\w-]+)", post(operator, "first_key", user_id="ana")))
    page = text_of(operator, NOW)  # a reload, without the secret
    assert lost not in page
    assert "Make the key again" in page
    [secret] = set(re.findall(r"Bearer (mh_[\w-]+)", post(operator, "first_key", again="1")))
    assert ApiKey.objects.get().user_id == "ana"  # the same key, for the same person
    assert Api(lost).post(MEMORIES, {"content": "Tea"}).status_code == 401
    assert Api(secret).post(MEMORIES, {"content": "Tea"}).status_code == 201
    assert "Make the key again" not in text_of(operator, NOW)
    post(operator, "first_key", user_id="ben", again="1")
    assert Api(secret).post(MEMORIES, {"content": "Milk"}).status_code == 201


def test_a_key_of_another_operator_is_not_made_again(operator: Client) -> None:
    text_of(operator, NOW)
    key_create(name="kitchen", scope=Scope("ana"), permission=Permission.WRITE, actor="admin:other")
    assert "Make the key again" not in text_of(operator, NOW)


def test_the_steps_are_about_the_person_of_the_key(operator: Client, remember: Callable[..., Memory]) -> None:
    text_of(operator, NOW)
    post(operator, "first_key", user_id="ana")
    assert "Save a memory of ana here" in text_of(operator, NOW)
    post(operator, "first_memory", content="The key is under the mat")
    assert Memory.objects.get().user_id == "ana"
    remember("The key is in the drawer", user="ben")
    page = post(operator, "first_search", question="where is the key?")
    assert "Search as an assistant of ana would" in page
    assert "under the mat" in page
    assert "in the drawer" not in page


def test_what_is_critical_stands_above_the_steps(operator: Client) -> None:
    page = text_of(operator, NOW)
    assert page.index("The background worker has stopped") < page.index(TITLE)


def test_a_search_by_script_gets_a_part_of_the_page(operator: Client, remember: Callable[..., Memory]) -> None:
    text_of(operator, NOW)
    remember("Ana plays the cello")
    url = reverse("cockpit_first_search")
    part = operator.post(url, {"question": "which instrument?"}, headers={"HX-Request": "true"}).content.decode()
    assert "Ana plays the cello" in part
    assert "<html" not in part


def test_a_search_that_finds_nothing_is_no_step(operator: Client) -> None:
    text_of(operator, NOW)
    assert "Nothing was found" in post(operator, "first_search", question="anything?")
    assert FirstSteps.objects.get().searched_at is None


def test_they_are_dismissed_for_good(operator: Client) -> None:
    text_of(operator, NOW)
    assert TITLE not in post(operator, "first_steps_dismiss")
    assert TITLE not in text_of(operator, NOW)


def test_a_hub_in_use_shows_none(operator: Client, remember: Callable[..., Memory]) -> None:
    remember("Ana prefers tea")
    assert TITLE not in text_of(operator, NOW)
    assert not FirstSteps.objects.exists()


def test_the_sample_is_brought_in_and_removed(operator: Client) -> None:
    text_of(operator, NOW)
    assert "Loading the sample household" in post(operator, "sample", act="load")
    assert OrmQ.objects.get().func() == "memoryhub.tasks.sample_load"
    FirstSteps.objects.update(sample_run=None)  # as after the run, which a worker does
    sample_load("run")
    page = text_of(operator, NOW)
    assert "Remove it again" in page
    assert TITLE in page
    assert done(operator) == 0  # its memories are not the first ones
    assert "Removing the sample household" in post(operator, "sample", act="remove")
    FirstSteps.objects.update(sample_run=None)
    sample_unload("run")
    assert not Memory.objects.filter(user_id__startswith=PREFIX).exists()
    assert "Load the sample household" in text_of(operator, NOW)


def test_they_are_for_who_may_make_keys(staff: Callable[..., Client]) -> None:
    viewer = staff("view_memory")
    assert TITLE not in text_of(viewer, NOW)
    for name in ("first_key", "first_memory", "first_search", "sample", "first_steps_dismiss"):
        assert viewer.post(reverse(f"cockpit_{name}"), {"user_id": "ana"}).status_code == 403
    assert not ApiKey.objects.exists()


def test_they_are_not_for_accounts_with_a_bound(bound: Callable[..., Client]) -> None:
    assert TITLE not in text_of(bound(user_id="ana"), NOW)


def test_a_key_for_a_user_who_is_being_forgotten_is_refused(operator: Client) -> None:
    text_of(operator, NOW)
    LockedUser.objects.create(user_id="ana", since=timezone.now())
    assert "mh_" not in post(operator, "first_key", user_id="ana")
    assert not ApiKey.objects.exists()
