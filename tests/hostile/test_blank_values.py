"""A blank tag means no filter, a blank identifier is refused (ADR 9)."""

import pytest

from apps.core.domain.scope import Scope
from tests.api import MEMORIES, SEARCH, Api, api_for, contents
from tests.hostile.support import assert_refused

pytestmark = pytest.mark.django_db

TAGS = ["agent", "personality", "project", "type", "session_id"]


@pytest.fixture
def api() -> Api:
    api = api_for(Scope(user_id="ana"))
    api.save("green tea", **dict.fromkeys(TAGS, "one"))
    api.save("black tea", **dict.fromkeys(TAGS, "two"))
    api.save("white tea")
    return api


def listed(api: Api, query: str) -> set[str]:
    return {memory["content"] for memory in api.get(f"{MEMORIES}?{query}").json()["results"]}


@pytest.mark.parametrize("tag", TAGS)
def test_blank_tag_is_no_filter_of_list_nor_of_search(api: Api, tag: str) -> None:
    everything = {"green tea", "black tea", "white tea"}
    assert listed(api, f"{tag}=") == set(contents(api.search("tea", **{tag: ""}))) == everything
    assert listed(api, f"{tag}=one") == set(contents(api.search("tea", **{tag: "one"}))) == {"green tea"}


def test_blank_tag_leaves_other_filters_in_force(api: Api) -> None:
    assert listed(api, "agent=&project=two") == {"black tea"}


@pytest.mark.parametrize("name", ["user_id", "household_id", "persona_id"])
def test_a_blank_identifier_is_refused_by_both(api: Api, name: str) -> None:
    assert_refused(api.get(f"{MEMORIES}?{name}="), 400, name)
    assert_refused(api.post(SEARCH, {"query": "tea", name: ""}), 400, name)
