"""Cursors lead through a list and tell nothing of the lists of others (D1)."""

import pytest

from apps.core.domain.scope import Scope
from tests.api import MEMORIES, api_for
from tests.hostile.support import same
from tests.hostile.world import BOUNDS, NOWHERE, World

pytestmark = pytest.mark.django_db

EACH_BOUND = pytest.mark.parametrize("bound", BOUNDS.values(), ids=BOUNDS.keys())


def cursor_of(address: str) -> str:
    return address.partition("cursor=")[2].partition("&")[0]


def test_cursor_names_memory_of_its_own_page_and_no_row_number(world: World) -> None:
    page = api_for(Scope(user_id="ana")).get(f"{MEMORIES}?limit=2").json()
    assert cursor_of(page["next"]) == f"older-{page['results'][-1]['id']}"


@EACH_BOUND
def test_cursor_of_another_key_answers_like_one_of_nothing(world: World, bound: Scope) -> None:
    api = api_for(bound)
    nothing = api.get(f"{MEMORIES}?cursor=older-{NOWHERE}")
    assert nothing.status_code == 404
    for memory in world.outside(bound):
        for direction in ("older", "newer"):
            assert same(api.get(f"{MEMORIES}?cursor={direction}-{memory.uuid}"), nothing)


def test_cursor_of_wider_key_shows_narrower_one_only_its_own(world: World) -> None:
    bound = Scope("ana", "home", "nurse")
    page = api_for(Scope()).get(f"{MEMORIES}?limit=1").json()
    while page["next"]:
        answer = api_for(bound).get(f"{MEMORIES}?cursor={cursor_of(page['next'])}")
        assert world.leaked(bound, answer) == []
        page = api_for(Scope()).get(page["next"].removeprefix("http://testserver")).json()


def test_pages_lead_to_end_and_back_without_loss(world: World) -> None:
    api = api_for(Scope(user_id="ana"))
    whole = [item["id"] for item in api.get(MEMORIES).json()["results"]]
    for limit in (1, 2, 3, 4, 50):
        page = api.get(f"{MEMORIES}?limit={limit}").json()
        there, back = [item["id"] for item in page["results"]], []
        assert page["previous"] is None
        while page["next"]:
            page = api.get(page["next"].removeprefix("http://testserver")).json()
            there += [item["id"] for item in page["results"]]
        back = [item["id"] for item in page["results"]]
        while page["previous"]:
            page = api.get(page["previous"].removeprefix("http://testserver")).json()
            back = [item["id"] for item in page["results"]] + back
        assert there == back == whole


def test_a_page_keeps_its_filters(world: World) -> None:
    page = api_for(Scope()).get(f"{MEMORIES}?limit=1&user_id=ana&persona_id=chef").json()
    following = api_for(Scope()).get(page["next"].removeprefix("http://testserver")).json()
    assert [item["persona_id"] for item in following["results"]] == ["chef"]
    assert following["next"] is None
