"""Who belongs to a household or persona, and what that lets applications write and read (DESIGN D24)."""

import pytest

from apps.accounts.services import account_bind, account_create, account_set_person
from apps.core.db.memberships import WriteScopes, is_member, members_of, names_of_member
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import ForbiddenError, NotFoundError
from apps.core.domain.scope import Access, Permission, Scope, system_access
from apps.core.models import Membership, MembershipState
from apps.core.selectors import key_verify
from apps.core.services import key_create, key_stop, membership_create, membership_end
from apps.episodic.domain.event import EventDraft
from apps.episodic.selectors import EventQuery, events_query
from apps.episodic.services import RecordResult, events_record
from tests.api import MEMORIES, Api, api_for, belong, contents, error_attrs

HOME, HOTEL = Scope("ana", "home"), Scope("ana", "hotel")
CHEF = Scope("ana", persona_id="chef")
OPERATOR = Access(Scope(), Permission.OPERATOR, "key:operator", makes_ties=True)
MEMBERSHIPS = "/api/memberships"
pytestmark = pytest.mark.django_db


def make_foreign(*ties: Scope) -> None:
    belong(*ties)
    for tie in ties:
        Membership.objects.in_scope(tie).update(state=MembershipState.FOREIGN)


# --- writes -------------------------------------------------------------------------------------------


def test_key_of_a_user_writes_where_they_belong_alone() -> None:
    belong(HOME)
    scopes = WriteScopes(Access(Scope("ana"), Permission.WRITE, "test"))
    assert scopes.settle(Scope(household_id="home")) == HOME
    for asked in (HOTEL, CHEF, Scope("ana", "home", "chef"), Scope("ana", "Home"), Scope("ana", "home ")):
        with pytest.raises(ForbiddenError):
            scopes.settle(asked)


def test_refusal_is_the_same_whether_the_household_exists() -> None:
    api, operator = api_for(Scope("ana")), api_for(Scope(), Permission.OPERATOR)
    operator.save("The door code is 1234", user_id="ben", household_id="home")
    answers = [api.post(MEMORIES, {"content": "hello", "household_id": name}) for name in ("home", "nowhere")]
    assert [answer.status_code for answer in answers] == [403, 403]
    assert answers[0].content == answers[1].content
    assert error_attrs(answers[0]) == ["household_id"]


def test_key_of_a_household_makes_whom_it_writes_for_a_member() -> None:
    api_for(Scope(household_id="home")).save("Ana likes tea", user_id="ana")
    assert is_member(HOME)
    assert api_for(Scope("ana")).save("Ana likes coffee too", household_id="home")["household_id"] == "home"


def test_key_of_a_household_names_no_persona_but_its_own() -> None:
    belong(CHEF)
    body = {"content": "hello", "user_id": "ana", "persona_id": "chef"}
    refused = api_for(Scope(household_id="home")).post(MEMORIES, body)
    assert (refused.status_code, error_attrs(refused)) == (403, ["persona_id"])
    assert api_for(Scope(None, "home", "chef")).save("hello", user_id="ana")["persona_id"] == "chef"


def test_write_of_a_key_of_a_user_makes_no_tie() -> None:
    belong(HOME)
    api_for(Scope("ana")).save("Ana likes tea", household_id="home")
    assert Membership.objects.count() == 1


def test_key_without_a_bound_makes_ties_for_memories_and_events() -> None:
    api = api_for(Scope(), Permission.OPERATOR)
    api.save("Ana likes tea", user_id="ana", household_id="home")
    event = {"user_id": "ana", "persona_id": "chef", "timestamp": "2026-03-04T12:00:00Z", "event_type": "message"}
    assert api.post("/api/episodic/events", {**event, "content": "hello"}).status_code == 201
    assert is_member(HOME)
    assert is_member(CHEF)


def test_work_of_the_hub_itself_makes_no_tie() -> None:
    draft = EventDraft(utcnow(SYSTEM_CLOCK), "message", "hello", HOME)
    [outcome] = events_record(access=system_access("bridge"), drafts=[draft])
    assert isinstance(outcome, RecordResult)
    assert not Membership.objects.exists()


def test_key_and_account_that_are_bound_to_both_make_a_tie() -> None:
    key_create(name="k", scope=HOME, permission=Permission.WRITE, actor="admin:boss")
    assert Membership.objects.get().made_by == "admin:boss"
    login = account_create(username="rita", role="")
    account_bind(login=login, scope=Scope(household_id="hotel"))
    account_set_person(login=login, person_id="rita")
    assert members_of(["home", "hotel"]) == {"home": {"ana"}, "hotel": {"rita"}}


# --- reads --------------------------------------------------------------------------------------------


def test_foreign_writes_are_not_found_there() -> None:
    operator = api_for(Scope(), Permission.OPERATOR)
    operator.save("The front door code is 0000", user_id="mal", household_id="home")
    operator.save("The garden gate is green", user_id="ana", household_id="home")
    make_foreign(Scope("mal", "home"))
    for api, asked in ((api_for(Scope(household_id="home")), {}), (operator, {"household_id": "home"})):
        assert contents(api.search("door code", **asked)) == ["The garden gate is green"]
        assert contents(api.search("door code", user_id="mal", household_id="home")) == []
    mallory = api_for(Scope("mal"))
    assert contents(mallory.search("door code")) == ["The front door code is 0000"]
    assert contents(mallory.search("door code", household_id="home")) == []


def test_a_foreign_memory_is_none_by_its_id() -> None:
    saved = api_for(Scope(), Permission.OPERATOR).save("code 0000", user_id="mal", household_id="home")
    home = api_for(Scope(household_id="home"))
    path = f"{MEMORIES}/{saved['id']}"
    assert home.get(path).status_code == 200
    make_foreign(Scope("mal", "home"))
    assert [home.get(path).status_code, home.delete(path).status_code] == [404, 404]
    assert api_for(Scope("mal")).get(path).status_code == 200


def test_foreign_events_are_not_found_there() -> None:
    draft = EventDraft(utcnow(SYSTEM_CLOCK), "message", "code 0000", Scope("mal", "home"))
    events_record(access=OPERATOR, drafts=[draft])
    home = Access(Scope(household_id="home"), Permission.READ, "test")
    assert len(events_query(home, EventQuery()).events) == 1
    home = Access(Scope(household_id="home"), Permission.READ, "test", foreign=(Scope("mal", "home"),))
    assert events_query(home, EventQuery()).events == ()


def test_who_is_foreign_is_read_with_the_key() -> None:
    make_foreign(HOME, Scope("ben", "home"))
    keys = [
        key_create(name="k", scope=scope, permission=Permission.READ, actor="t") for scope in (Scope("ben"), Scope())
    ]
    found = [key_verify(secret, utcnow(SYSTEM_CLOCK)) for _, secret in keys]
    assert [set(key.access.foreign) for key in found if key] == [{Scope("ben", "home")}, {HOME, Scope("ben", "home")}]


def test_a_foreign_user_has_not_stopped_the_key() -> None:
    make_foreign(HOME)
    api = api_for(Scope(household_id="home"))
    assert contents(api.search("tea", user_id="ana")) == []
    [key, _] = key_create(name="k", scope=Scope(household_id="home"), permission=Permission.READ, actor="t")
    key_stop(uuid=key.uuid, user_id="ben")
    key.refresh_from_db()
    assert key.access.bound.without == ("ana", "ben")


def test_write_of_the_household_accepts_what_was_foreign() -> None:
    make_foreign(HOME)
    api_for(Scope(household_id="home")).save("Ana likes tea", user_id="ana")
    assert is_member(HOME)


# --- said by operators --------------------------------------------------------------------------------


def test_membership_is_made_listed_and_ended_over_rest() -> None:
    operator, ana = api_for(Scope(), Permission.OPERATOR), api_for(Scope("ana"))
    made = operator.post(MEMBERSHIPS, {"user_id": "ana", "household_id": "home"})
    assert made.status_code == 201
    assert operator.post(MEMBERSHIPS, {"user_id": "ana", "household_id": "home"}).status_code == 200
    assert [row["household_id"] for row in ana.get(MEMBERSHIPS).json()["results"]] == ["home"]
    ana.save("Ana likes tea", household_id="home")
    assert operator.delete(made["Location"]).status_code == 204
    assert operator.delete(made["Location"]).status_code == 404
    assert ana.post(MEMORIES, {"content": "again", "household_id": "home"}).status_code == 403
    assert ana.get(MEMBERSHIPS).json()["results"] == []
    assert [row["state"] for row in operator.get(f"{MEMBERSHIPS}?state=foreign").json()["results"]] == ["foreign"]


@pytest.mark.parametrize(
    ("bound", "status"),
    [
        (Scope("ana"), 403),
        (Scope("ben"), 403),
        (Scope("ana", "home"), 403),
        (Scope(household_id="hotel"), 403),
        (Scope(persona_id="chef"), 403),
        (Scope(household_id="home"), 201),
        (Scope(), 201),
    ],
)
def test_who_may_say_that_a_user_belongs_to_a_household(bound: Scope, status: int) -> None:
    api = api_for(bound)
    Membership.objects.all().delete()
    assert api.post(MEMBERSHIPS, {"user_id": "ana", "household_id": "home"}).status_code == status
    assert is_member(HOME) is (status == 201)


def test_key_that_reads_says_nothing() -> None:
    api = api_for(Scope(household_id="home"), Permission.READ)
    assert api.post(MEMBERSHIPS, {"user_id": "ana", "household_id": "home"}).status_code == 403


@pytest.mark.parametrize(
    "body", [{}, {"user_id": "ana"}, {"household_id": "home"}, {"user_id": "a", "household_id": "h", "persona_id": "p"}]
)
def test_membership_names_a_user_and_one_of_two(body: dict[str, str]) -> None:
    assert api_for(Scope()).post(MEMBERSHIPS, body).status_code == 400


def test_key_of_another_household_sees_no_membership() -> None:
    made, _ = membership_create(access=OPERATOR, scope=HOME)
    for bound in (Scope("ben"), Scope(household_id="hotel"), Scope(persona_id="chef")):
        api = api_for(bound)
        assert api.get(MEMBERSHIPS).json()["results"] == []
        assert [
            api.get(f"{MEMBERSHIPS}/{made.uuid}").status_code,
            api.delete(f"{MEMBERSHIPS}/{made.uuid}").status_code,
        ] == [404, 404]
    assert api_for(Scope("ana")).delete(f"{MEMBERSHIPS}/{made.uuid}").status_code == 403


def test_ended_membership_ends_what_a_key_of_both_may_do() -> None:
    made, _ = membership_create(access=OPERATOR, scope=HOME)
    both = api_for(HOME)
    both.save("Ana likes tea")
    membership_end(access=OPERATOR, uuid=made.uuid)
    assert both.post(MEMORIES, {"content": "again"}).status_code == 403
    assert contents(both.search("tea")) == []
    with pytest.raises(NotFoundError):
        membership_end(access=OPERATOR, uuid=made.uuid)


def test_names_of_a_member_are_without_foreign_ones() -> None:
    belong(HOME, CHEF)
    make_foreign(HOTEL)
    assert names_of_member("ana", "household_id") == {"home"}
    assert names_of_member("ana", "persona_id") == {"chef"}


def test_key_of_nobody_gets_no_membership() -> None:
    assert Api("mh_" + "x" * 40).get(MEMBERSHIPS).status_code == 401
