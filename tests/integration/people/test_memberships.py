"""The review of what was written before the hub asked who belongs where, and its page for operators."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.core.db.memberships import is_member, ties_make
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Access, Permission, Scope, system_access
from apps.core.models import DisplayName, Membership, MembershipState, foreign_ties
from apps.core.services import key_create
from apps.episodic.domain.event import EventDraft
from apps.episodic.services import event_record
from apps.people.services import MembershipReview, memberships_review
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.services import memory_save
from memoryhub.problems.accounts import membership_problems
from tests.api import api_for, contents

pytestmark = pytest.mark.django_db
HOME, MAL = Scope("ana", "home"), Scope("mal", "home")


def key(scope: Scope, name: str = "k") -> Access:
    return key_create(name=name, scope=scope, permission=Permission.WRITE, actor="admin:boss")[0].access


def written_before(actor: str, *scopes: Scope) -> None:
    """Save as the version before did, which made no ties."""
    for scope in scopes:
        memory_save(access=system_access(actor), draft=MemoryDraft(f"{scope.user_id} was here", scope=scope))


def test_what_only_an_app_of_the_user_can_have_written_is_foreign() -> None:
    key(Scope("mal"), "app of mal")
    written_before("key:app of mal", MAL)
    written_before("admin:boss", HOME)
    assert memberships_review() == MembershipReview(2, 1)
    assert foreign_ties() == (MAL,)
    assert is_member(HOME)
    assert contents(api_for(Scope(household_id="home")).search("here")) == ["ana was here"]


def test_what_a_key_of_the_household_wrote_makes_members() -> None:
    key(Scope("ana"), "app of ana")
    key(Scope(household_id="home"), "kitchen")
    written_before("key:kitchen", HOME, MAL)
    assert memberships_review() == MembershipReview(2, 0)


def test_who_never_had_a_key_is_a_member() -> None:
    written_before("bridge", HOME, MAL)
    assert memberships_review() == MembershipReview(2, 0)


def test_who_is_alone_there_is_a_member() -> None:
    key(Scope("ana"), "app of ana")
    written_before("key:app of ana", Scope("ana", persona_id="coach"))
    assert memberships_review() == MembershipReview(1, 0)


def test_who_is_alone_in_a_household_with_a_key_is_foreign() -> None:
    key(Scope("mal"), "app of mal")
    key(Scope(household_id="home"), "kitchen")
    written_before("key:app of mal", MAL)
    assert memberships_review() == MembershipReview(1, 1)


def test_events_are_reviewed_too() -> None:
    key(Scope("mal"), "app of mal")
    key(Scope(household_id="home"), "kitchen")

    event_record(
        access=system_access("key:app of mal"), draft=EventDraft(utcnow(SYSTEM_CLOCK), "message", "I was here", MAL)
    )
    assert memberships_review() == MembershipReview(1, 1)


def test_what_was_said_is_not_reviewed_again() -> None:
    key(Scope("mal"), "app of mal")
    key(Scope(household_id="home"), "kitchen")
    ties_make([MAL], made_by="admin:boss", made_at=utcnow(SYSTEM_CLOCK))
    written_before("key:app of mal", MAL)
    assert memberships_review() == MembershipReview(0, 0)


# --- pages --------------------------------------------------------------------------------------------


def test_operators_see_foreign_writes_and_accept_them(admin_client: Client) -> None:
    written_before("test", MAL)
    Membership.objects.create(
        user_id="mal", household_id="home", state="foreign", made_by="x", made_at=utcnow(SYSTEM_CLOCK)
    )
    assert [problem.code for problem in membership_problems()] == ["foreign_writes"]
    page = reverse("admin:core_membership_changelist")
    shown = admin_client.get(f"{page}?state__exact=foreign").content.decode()
    assert "1 memory, 0 events" in shown
    row = Membership.objects.get()
    admin_client.post(page, {"action": "accept", "_selected_action": [row.pk]})
    assert is_member(MAL)
    assert list(membership_problems()) == []
    admin_client.post(page, {"action": "end", "_selected_action": [row.pk]})
    assert not is_member(MAL)


def test_operator_says_who_belongs_where(admin_client: Client) -> None:
    page = reverse("admin:core_membership_add")
    named = {"user_id": "ana", "household_id": "home", "persona_id": ""}
    assert admin_client.post(page, named).status_code == 302
    assert admin_client.post(page, named).status_code == 302
    assert Membership.objects.get().made_by == "admin:admin"
    assert b"either a household or a persona" in admin_client.post(page, {**named, "persona_id": "chef"}).content
    assert Membership.objects.get().state == MembershipState.MEMBER


def test_operator_names_a_household_once(admin_client: Client) -> None:
    page = reverse("admin:core_displayname_add")
    named = {"household_id": "home", "persona_id": "", "name": "<b>The oak house</b>"}
    assert admin_client.post(page, named).status_code == 302
    assert DisplayName.objects.get().named_by == "admin:admin"
    assert b"It has a name already" in admin_client.post(page, named).content
    assert b"either a household or a persona" in admin_client.post(page, {**named, "persona_id": "chef"}).content
    ties_make([HOME], made_by="test", made_at=utcnow(SYSTEM_CLOCK))
    shown = admin_client.get(reverse("admin:core_membership_changelist")).content.decode()
    assert "household &lt;b&gt;The oak house&lt;/b&gt; (home)" in shown
    assert "The oak house</b>" not in shown
