"""Searches and lists that include what was granted: one ranking over several owners (DESIGN D14)."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.core.domain.scope import MAX_OWNERS, Access, Permission, Scope, system_access
from apps.core.models import ApiKey
from apps.core.services import key_update
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Conflict, Memory
from apps.semantic.services import memory_save_many
from apps.semantic.tools import search_memories
from tests.api import MEMORIES, SEARCH, Api, api_for, contents, error_attrs
from tests.integration.semantic.rest.test_current_first_api import notice

pytestmark = pytest.mark.django_db

SYSTEM = system_access("test")
TEAM, WEB = "team:platform", "team:web"
WORDS = ("fork", "river", "chess", "lamp", "cloud", "green tea", "harbour", "train", "winter", "paper")
MODES = ("hybrid", "vector", "keyword")
START = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def everybody() -> Api:
    return api_for(Scope())


@pytest.fixture
def reader() -> Api:
    """An application of Ana's that was granted a team."""
    return api_for(Scope("ana"), reads=[TEAM])


def quiet(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer of a search without the time that it took."""
    return {**answer, "diagnostics": {**answer["diagnostics"], "took_ms": 0}}


# --- one ranking ----------------------------------------------------------------------------------------


def drafts_of(seed: int) -> list[MemoryDraft]:
    """Memories of several owners. Each has a project of its own, so that none is held against another."""
    chance = random.Random(seed)
    return [
        MemoryDraft(
            f"{' '.join(chance.choices(WORDS, k=chance.randint(1, 6)))} {number}",
            scope=Scope(chance.choice(["ana", "ben", TEAM, WEB]), chance.choice([None, "home"])),
            session_id=chance.choice(["", "s", "t"]),
            type=chance.choice(["note", "plan"]),
            project=f"p{number}",
            importance=chance.random(),
            confidence=chance.choice([0.3, 0.9]),
            occurred_at=START + timedelta(days=chance.randint(0, 50)),
        )
        for number in range(40)
    ]


def as_one_users(drafts: list[MemoryDraft]) -> list[MemoryDraft]:
    """The same memories as if one user had them. Sessions of two owners are two sessions."""
    return [
        MemoryDraft(
            draft.content,
            scope=Scope("one", draft.scope.household_id),
            session_id=draft.session_id and f"{draft.scope.user_id} {draft.session_id}",
            type=draft.type,
            project=draft.project,
            importance=draft.importance,
            confidence=draft.confidence,
            occurred_at=draft.occurred_at,
        )
        for draft in drafts
    ]


def account(answer: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """What an answer says of memories, whoever has them, in order; and how it came to them.

    How vectors are searched is chosen for each owner.
    """
    return [
        (item["memory"]["content"], item["score"], item["similarity"], item["explain"]) for item in answer["results"]
    ], {**quiet(answer)["diagnostics"], "index": None}


QUESTIONS: list[dict[str, Any]] = [
    {"query": "fork by the river"},
    {"query": "green tea in the harbour in January 2026", "limit": 5},
    {"query": "lamp cloud chess", "type": "note"},
    {"query": "winter train", "min_similarity": 0.1, "min_confidence": 0.5},
    {"query": "paper", "filter": {"importance": {"gte": 0.5}}},
    {"query": "paper lamp", "time_window": {"from": "2026-01-20", "to": "2026-02-10"}, "timezone": "Asia/Tokyo"},
]


@pytest.mark.parametrize("seed", range(4))
def test_search_over_several_owners_is_that_of_same_memories_of_one_user(seed: int) -> None:
    drafts = drafts_of(seed)
    household = Scope("ana", "home") if seed % 2 else Scope("ana")
    seen = [draft for draft in drafts if draft.scope.user_id in {TEAM, WEB} or household.contains(draft.scope)]
    memory_save_many(access=SYSTEM, drafts=drafts)
    memory_save_many(access=SYSTEM, drafts=as_one_users(seen))
    assert not Conflict.objects.exists()
    key = api_for(Scope("ana"), reads=[TEAM, WEB])
    oracle = api_for(Scope("one"))
    for question in QUESTIONS:
        for mode in MODES:
            asked = {**question, "mode": mode, "explain": True, "current_first": False}
            expected = account(oracle.search(**asked))
            for _ in range(2):  # of a refreshed index and of one that is in memory
                found = key.search(**asked, **household.named(), include=[WEB, TEAM, "ben"])
                assert account(found) == expected
            diagnostics = found["diagnostics"]
            assert diagnostics["considered_count"] == len(seen)
            assert diagnostics["filtered_count"] + diagnostics["matched_count"] == len(seen)


def test_result_says_whose_it_is(everybody: Api, reader: Api) -> None:
    everybody.save("Ana deploys on Mondays", user_id="ana")
    everybody.save("The platform team deploys on Tuesdays", user_id=TEAM, household_id="office")
    found = reader.search("Who deploys when?", include=[TEAM])
    assert {item["memory"]["user_id"] for item in found["results"]} == {"ana", TEAM}


def test_nothing_is_included_that_the_search_does_not_name(everybody: Api, reader: Api) -> None:
    everybody.save("The platform team deploys on Tuesdays", user_id=TEAM)
    assert reader.search("deploys")["count"] == 0
    assert reader.search("deploys", user_id=TEAM)["count"] == 0
    assert reader.get(MEMORIES).json()["results"] == []


def test_identifiers_of_the_search_narrow_what_is_ones_own_only(everybody: Api, reader: Api) -> None:
    everybody.save("Own at home", user_id="ana", household_id="home")
    everybody.save("Own away", user_id="ana", household_id="away")
    everybody.save("Of the team", user_id=TEAM, persona_id="bot")
    everybody.save("Of the team at home", user_id=TEAM, household_id="home")
    shared = {"Of the team", "Of the team at home"}
    assert set(contents(reader.search("own", household_id="home", include=[TEAM]))) == {"Own at home"} | shared
    assert set(contents(reader.search("own", user_id="ben", include=[TEAM]))) == shared
    assert set(contents(reader.search("own", persona_id="none", include=[TEAM]))) == shared
    listed = reader.get(f"{MEMORIES}?household_id=home&include={TEAM}").json()
    assert {item["content"] for item in listed["results"]} == {"Own at home"} | shared


def test_a_key_may_include_the_rest_of_its_own_user(everybody: Api) -> None:
    everybody.save("At home", user_id="ana", household_id="home")
    everybody.save("Away", user_id="ana", household_id="away")
    whole, part = api_for(Scope("ana")), api_for(Scope("ana", "home"))
    assert whole.search("at", household_id="home", include=["ana"])["count"] == 2
    assert part.search("at", include=["ana"])["count"] == 1
    assert api_for(Scope("ana", "home"), reads=["ana"]).search("at", include=["ana"])["count"] == 2


def test_key_without_bound_may_include_anyone(everybody: Api) -> None:
    for user in ("ana", "ben", TEAM):
        everybody.save("tea", user_id=user)
    found = everybody.search("tea", user_id="ana", include=["ben", "nobody"])
    assert {item["memory"]["user_id"] for item in found["results"]} == {"ana", "ben"}
    assert everybody.search("tea", include=["ben"])["diagnostics"]["considered_count"] == 3


@pytest.mark.parametrize("bound", [Scope("ana"), Scope(household_id="home"), Scope("ana", None, "chef")])
def test_owner_who_is_not_granted_answers_like_one_who_does_not_exist(everybody: Api, bound: Scope) -> None:
    everybody.save("tea in the morning", user_id="ana", household_id="home", persona_id="chef")
    everybody.save("tea in the evening", user_id="ben")
    everybody.save("tea at noon", user_id=TEAM)
    key = api_for(bound, reads=[TEAM])
    for include in ([], [TEAM]):
        plain = key.search("tea", include=[*include, "nobody"], explain=True)
        assert plain["count"] == 1 + len(include)
        assert quiet(key.search("tea", include=[*include, "ben"], explain=True)) == quiet(plain)
        names = ",".join([*include, "nobody"])
        listed = key.get(f"{MEMORIES}?include={names}&count=true").json()
        assert key.get(f"{MEMORIES}?include={names.replace('nobody', 'ben')}&count=true").json() == listed
        assert listed["total"] == 1 + len(include)


def test_without_include_a_grant_costs_no_statement(everybody: Api, reader: Api) -> None:
    everybody.save("tea", user_id="ana")
    counted = []
    for key in (api_for(Scope("ana")), reader):
        key.search("tea")
        with CaptureQueriesContext(
            connection,
        ) as queries:
            key.search("tea")
        counted.append(len(queries))
    assert counted[0] == counted[1]


def test_owner_who_is_not_granted_costs_what_one_who_does_not_exist_costs(everybody: Api, reader: Api) -> None:
    everybody.save("tea", user_id="ana")
    everybody.save("tea", user_id="ben")
    seen = []
    for include in ([], ["nobody"], ["ben"]):
        reader.search("tea", include=include)
        with CaptureQueriesContext(connection) as queries:
            reader.search("tea", include=include)
        seen.append([query["sql"] for query in queries])
    assert len({len(statements) for statements in seen}) == 1
    assert not any("ben" in statement for statements in seen for statement in statements)


def test_grant_that_ends_is_over_with_the_next_search(everybody: Api, reader: Api) -> None:
    everybody.save("tea", user_id=TEAM)
    key = ApiKey.objects.get(user_id="ana")
    for reads, count in (([TEAM], 1), ([], 0), (["ben"], 0), ([TEAM], 1)):
        key_update(uuid=key.uuid, changes={"reads": reads})
        assert reader.search("tea", include=[TEAM])["count"] == count
        assert len(reader.get(f"{MEMORIES}?include={TEAM}").json()["results"]) == count


def test_what_an_owner_writes_is_found_by_the_next_search(everybody: Api, reader: Api) -> None:
    first = everybody.save("tea", user_id=TEAM)
    assert reader.search("tea", include=[TEAM])["count"] == 1
    everybody.save("more tea", user_id=TEAM)
    assert reader.search("tea", include=[TEAM])["count"] == 2
    everybody.delete(f"{MEMORIES}/{first['id']}")
    assert contents(reader.search("tea", include=[TEAM])) == ["more tea"]


def test_expired_and_global_memories_of_an_owner_are_as_ones_own(everybody: Api, reader: Api) -> None:
    everybody.save("tabs everywhere", user_id=TEAM, **{"global": True})
    everybody.save("tabs in atlas", user_id=TEAM, project="atlas")
    gone = everybody.save("tabs no longer", user_id=TEAM, expires_at="2099-01-01T00:00:00Z")
    Memory.objects.filter(uuid=gone["id"]).update(expires_at=START)
    found = reader.search("tabs", include=[TEAM], project="borea")
    assert contents(found) == ["tabs everywhere"]
    listed = reader.get(f"{MEMORIES}?include={TEAM}").json()
    assert {item["content"] for item in listed["results"]} == {"tabs everywhere", "tabs in atlas"}


@pytest.mark.parametrize(
    ("include", "status"),
    [
        ([], 200), (["x"] * MAX_OWNERS, 200), ([f"x{n}" for n in range(MAX_OWNERS + 1)], 400), ([""], 400),
        ("x", 400), (None, 400), ([1], 400), (["x" * 201], 400),
    ],
)  # fmt: skip
def test_include_is_at_most_fifty_ids(reader: Api, include: object, status: int) -> None:
    response = reader.post(SEARCH, {"query": "tea", "include": include})
    assert response.status_code == status
    if status == 400:
        assert error_attrs(response)[0].startswith("include")


def test_a_list_that_is_too_long_is_one_error(reader: Api) -> None:
    for response in (
        reader.post(SEARCH, {"query": "tea", "include": [""] * 10_000}),
        reader.get(f"{MEMORIES}?include={',' * 5_000}"),
    ):
        assert response.status_code == 400
        assert [(one["attr"], one["code"]) for one in response.json()["errors"]] == [("include", "max_length")]


@pytest.mark.parametrize(("text", "status"), [("a,b", 200), ("a,,b", 400), (",".join("x" * 51), 400), ("%20", 400)])
def test_list_takes_ids_with_commas_between_them(reader: Api, text: str, status: int) -> None:
    assert reader.get(f"{MEMORIES}?include={text}").status_code == status


def test_a_model_may_include_as_rest_may(everybody: Api) -> None:
    everybody.save("tea", user_id=TEAM)
    for reads, count in ((), 0), ((TEAM,), 1):
        access = Access(Scope("ana"), Permission.READ, "key:ana", reads)
        assert search_memories(access, {"query": "tea", "include": [TEAM]})["count"] == count


# --- lists ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sort", ["", "&sort=importance", "&sort=-updated_at"])
def test_pages_of_several_owners_hold_each_memory_once(everybody: Api, reader: Api, sort: str) -> None:
    for number in range(12):
        owner = ("ana", TEAM, "ben")[number % 3]
        everybody.save(f"tea {number}", user_id=owner, importance=(number * 5 % 7) / 10, project=str(number))
    address = f"{MEMORIES}?include={TEAM}&limit=3&count=true{sort}"
    seen = []
    while address:
        page = reader.get(address).json()
        assert page["total"] == 8
        seen += page["results"]
        address = page["next"]
    assert len(seen) == len({item["id"] for item in seen}) == 8
    assert {item["user_id"] for item in seen} == {"ana", TEAM}
    if sort == "&sort=importance":
        assert [item["importance"] for item in seen] == sorted(item["importance"] for item in seen)


def test_cursor_of_an_included_memory_means_nothing_without_include(everybody: Api, reader: Api) -> None:
    memory = everybody.save("tea", user_id=TEAM)
    address = f"{MEMORIES}?cursor=older-{memory['id']}"
    assert reader.get(f"{address}&include={TEAM}").status_code == 200
    assert reader.get(address).status_code == reader.get(f"{address}&include=ben").status_code == 404


# --- what two owners have is never one matter -----------------------------------------------------------


def test_memories_of_two_owners_are_never_held_against_each_other(everybody: Api, reader: Api) -> None:
    everybody.save("Ana lives in Oslo.", user_id=TEAM)
    reader.search("Where does Ana live?", include=[TEAM])
    answer = reader.post(MEMORIES, {"content": "Ana lives in Bergen."}).json()
    assert (answer["action"], answer["conflict"]) == ("inserted", None)
    everybody.save("The kettle is red", user_id=TEAM)
    same = reader.post(MEMORIES, {"content": "The kettle is red"}).json()
    assert (same["action"], same["reason"]) == ("inserted", "unique_hash")
    found = reader.search("Where does Ana live?", include=[TEAM], explain=True, current_first=True)
    of_team = [item for item in found["results"] if item["memory"]["user_id"] == TEAM]
    assert [item["conflict"] for item in of_team] == [None, None]
    for item in found["results"]:
        put_before = item["explain"]["current_first"]
        assert put_before is None or put_before["before"] not in {one["memory"]["id"] for one in of_team}
    assert not Conflict.objects.filter(user_id=TEAM).exists()


def test_newer_memory_of_another_owner_is_not_put_first(everybody: Api, reader: Api) -> None:
    everybody.save("The office of the team is in Oslo", user_id="ana", occurred_at="2026-01-01T00:00:00Z")
    everybody.save("The office of the team is in Bergen", user_id=TEAM, occurred_at="2026-02-01T00:00:00Z")
    found = reader.search("Where is the office of the team in Oslo?", include=[TEAM], explain=True, current_first=True)
    assert [item["explain"]["current_first"] for item in found["results"]] == [None, None]
    assert [item["score"] for item in found["results"]] == sorted(
        (item["score"] for item in found["results"]), reverse=True
    )


def test_open_conflict_of_an_included_memory_is_named_and_its_receipt_stays_its_owners(
    everybody: Api, reader: Api
) -> None:
    one, other = (
        everybody.save(text, user_id=TEAM) for text in ("The gym is free", "The gym costs nine euros a month")
    )
    Conflict.objects.all().delete()
    receipt = notice(other["id"], one["id"])
    found = reader.search("What does the gym cost?", include=[TEAM])
    assert [item["conflict"]["id"] for item in found["results"]] == [str(receipt.uuid)] * 2
    assert reader.get(f"/api/semantic/conflicts/{receipt.uuid}").status_code == 404
    assert reader.get("/api/semantic/conflicts").json()["results"] == []
    everybody.save("The gym is open", user_id="ana")
    assert [item["conflict"] for item in reader.search("gym")["results"]] == [None]
