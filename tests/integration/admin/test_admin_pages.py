"""Every page of the admin: there for a superuser, closed to everybody else."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_q.models import Failure, OrmQ, Schedule
from django_q.tasks import async_task

from apps.core.domain.scope import Permission, Scope, system_access
from apps.core.models import ApiKey, DisplayName, Membership
from apps.core.services import key_create
from apps.episodic.models import RetentionPolicy
from apps.llm.models import Price, ToolRunDay
from apps.notes.compaction.run import compaction_request
from apps.notes.services import main_append
from apps.rules.models import MergeRule
from apps.rules.services import rule_register
from apps.semantic.consolidation.services import consolidation_create
from apps.semantic.judge.services import judge_get
from apps.semantic.models import Conflict, Consolidation, Memory, RoutingPolicy
from apps.sync.models import KnowledgeSource
from tests.integration.admin import bridge, knowledge, timeline
from tests.integration.admin.conversations import learn
from tests.integration.admin.knowledge import folder as folder
from tests.integration.admin.pages import address, text_of
from tests.integration.llm import configuring

pytestmark = pytest.mark.django_db

MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)
CAN_BE_ADDED = {
    ApiKey, Consolidation, DisplayName, Group, KnowledgeSource, Membership, MergeRule, Price, RetentionPolicy,
    RoutingPolicy, User,
}  # fmt: skip
by_label = pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)


@pytest.fixture
def full(remember: Callable[..., Memory], subscriber: None, notes_dir: Path, folder: Path) -> None:
    """At least one row of each model that the admin shows."""
    remember("Ana prefers tea", metadata={"tool": "chat"}, keywords=("tea",), context="at breakfast")
    remember("Ana lives in Lisbon.", user="ben")
    remember("Ana does not live in Lisbon.", user="ben")  # which leaves the receipt of a conflict
    key_create(name="kitchen", scope=Scope("ana", "home"), permission=Permission.READ, actor="test")
    User.objects.create_user("somebody")
    Group.objects.create(name="readers")
    Schedule.objects.create(name="sweep", func="apps.events.tasks.sweep", schedule_type=Schedule.MINUTES, minutes=1)
    async_task("apps.events.tasks.drain")
    rule_register(document={"name": "kitchen"}, actor="test")
    consolidation_create(name="nightly")
    judge_get()
    main_append(access=system_access("test"), user_id="ana", entry="Ana prefers tea")
    learn("I live in Bergen.")
    compaction_request("ana", actor="test")
    knowledge.make_conflict(folder)
    timeline.event()
    timeline.warning()
    bridge.pruned_event()
    configuring.call()
    configuring.spent("1.5")
    configuring.price()
    ToolRunDay.objects.create(day=configuring.TODAY, tool="memory_save", protocol="abp", outcome="done", runs=1)
    now = timezone.now()
    DisplayName.objects.create(household_id="home", name="Home", named_by="test", named_at=now)
    error = "Traceback: it\nfailed"
    Failure.objects.create(id=uuid4().hex, name="task", started=now, stopped=now, success=False, result=error)


# Those of every model are opened in test_page_frame.py.
@pytest.mark.parametrize("model", [ApiKey, Memory, Conflict])
def test_superuser_sees_list_and_page_of_a_model(operator: Client, full: None, model: type[Model]) -> None:
    row = model._default_manager.order_by("pk").first()
    assert row is not None
    text_of(operator, address(model, "changelist"))
    text_of(operator, address(model, "change", row.pk))


@by_label
def test_what_services_write_cannot_be_added_by_hand(
    operator: Client, plain_refusals: None, model: type[Model]
) -> None:
    status = operator.get(address(model, "add")).status_code
    assert status == (200 if model in CAN_BE_ADDED else 403)


@by_label
def test_an_empty_list_is_a_page_too(operator: Client, model: type[Model]) -> None:
    text = text_of(operator, address(model, "changelist"), q="5f0c0000-0000-4000-8000-000000000000")
    found = operator.get(address(model, "changelist")).context.get("cl")
    if found is None or found.search_fields:
        assert "Nothing matches" in text


def every_page() -> list[str]:
    """The addresses of list, add and change of every model."""
    pages = []
    for model in MODELS:
        row = model._default_manager.order_by("pk").first()
        assert row is not None
        pages += [address(model, "changelist"), address(model, "add"), address(model, "change", row.pk)]
    return pages


def test_nobody_sees_a_page_without_logging_in(client: Client, full: None) -> None:
    login = reverse("admin:login")
    answers = {url: client.get(url).headers.get("Location", "") for url in every_page()}
    assert [url for url, location in answers.items() if not location.startswith(login)] == []


def test_staff_without_permissions_see_no_page(staff: Callable[..., Client], full: None, plain_refusals: None) -> None:
    client = staff()
    assert [url for url in every_page() if client.get(url).status_code != 403] == []


def test_the_navigation_and_the_tabs_of_access_lead_to_every_model(operator: Client) -> None:
    text = text_of(operator, reverse("admin:index"))
    access = reverse("cockpit_access")
    assert f'href="{access}"' in text
    text += text_of(operator, access)
    lists = [address(model, "changelist") for model in MODELS]
    assert [url for url in lists if f'href="{url}"' not in text] == []


def test_navigation_leaves_out_what_may_not_be_seen(staff: Callable[..., Client]) -> None:
    text = text_of(staff("view_memory"), reverse("admin:index"))
    assert address(Memory, "changelist") in text
    assert address(ApiKey, "changelist") not in text


def test_pages_of_logging_in_and_of_passwords_are_there(client: Client) -> None:
    text_of(client, reverse("account_login"))
    user = User.objects.create_superuser("operator", password="a long enough password")
    client.force_login(user)
    text_of(client, reverse("admin:password_change"))
    # To set a password is for who has just proved who they are: docs/operate/security.md#accounts.
    answer = client.get(reverse("admin:auth_user_password_change", args=[user.pk]))
    text_of(client, answer["Location"])


def test_pages_load_nothing_from_elsewhere(operator: Client, full: None) -> None:
    lists = [address(model, "changelist") for model in (Memory, Conflict)]
    pages = [address(model, "change", model._default_manager.earliest("pk").pk) for model in (Memory, Conflict)]
    for url in (reverse("admin:index"), reverse("admin:semantic_conflict_revert_many"), *lists, *pages):
        text = text_of(operator, url)
        assert 'src="http' not in text
        assert '<link href="http' not in text


def test_what_is_not_there_gets_page_that_says_so(operator: Client) -> None:
    response = operator.get("/admin/no/such/page/")
    assert response.status_code == 404
    assert "There is nothing here" in response.content.decode()


def test_what_may_not_be_seen_gets_page_that_says_so(staff: Callable[..., Client]) -> None:
    response: Any = staff().get(address(Memory, "changelist"))
    assert "you have no access to anything in this hub" in response.content.decode()
    assert "Your account has no role" in response.content.decode()


def test_list_of_memories_takes_same_number_of_queries_for_more_rows(
    operator: Client, remember: Callable[..., Memory], django_assert_max_num_queries: Any
) -> None:
    for number in range(30):
        remember(f"Fact {number}")
    text_of(operator, address(Memory, "changelist"))
    with django_assert_max_num_queries(9):
        text_of(operator, address(Memory, "changelist"))


def test_queued_tasks_are_shown_by_what_they_do(operator: Client) -> None:
    async_task("apps.events.tasks.sweep")
    assert "apps.events.tasks.sweep" in text_of(operator, address(OrmQ, "changelist"))
