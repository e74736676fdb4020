"""A global memory is found in every project, agent and personality (spec 004, decision 0032)."""

from itertools import product
from typing import Any

import pytest

from apps.core.domain.scope import Permission, Scope
from tests.api import MEMORIES, Api, api_for, contents
from tests.integration.semantic.rest.test_search_api import adds_up

pytestmark = pytest.mark.django_db

# What is saved: the content, and its tags.
SAVED: dict[str, dict[str, Any]] = {
    "tabs are used in atlas": {"project": "atlas"},
    "tabs are used in borea": {"project": "borea"},
    "tabs are eight wide": {"global": True},
    "a linter trims trailing tabs": {"project": "borea", "agent": "scout", "type": "style", "global": True},
    "tabs of the scout in atlas": {"project": "atlas", "agent": "scout", "personality": "terse"},
}


@pytest.fixture
def saved(api: Api) -> Api:
    for content, tags in SAVED.items():
        api.save(content, **tags)
    return api


def expected(**asked: Any) -> set[str]:
    """What a search of these tags should find, by a naive reading of the decision."""
    found = set()
    for content, tags in SAVED.items():
        is_global = tags.get("global", False)
        places = all(
            tags.get(name) == asked[name] or (is_global and asked.get("global") is not False)
            for name in ("agent", "personality", "project")
            if name in asked
        )
        is_wanted = "global" not in asked or asked["global"] == is_global
        if places and is_wanted and ("type" not in asked or tags.get("type") == asked["type"]):
            found.add(content)
    return found


NAMES = ("project", "agent", "personality", "type", "global")
CHOICES = list(
    product((None, "atlas", "nowhere"), (None, "scout"), (None, "terse"), (None, "style"), (None, True, False))
)


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_every_combination_finds_what_the_decision_says(saved: Api, mode: str) -> None:
    for values in CHOICES:
        asked = {name: value for name, value in zip(NAMES, values, strict=True) if value is not None}
        answer = saved.search("tabs", mode=mode, **asked)
        assert set(contents(answer)) == expected(**asked), asked
        assert adds_up(answer)
        assert answer["diagnostics"]["considered_count"] == len(SAVED)
        assert set(answer["diagnostics"]["filtered"]) <= {*NAMES[:4], "is_global", "no_common_word"}


def test_global_memories_are_found_in_a_project_without_any_other(api: Api) -> None:
    api.save("tabs are eight wide", **{"global": True})
    assert contents(api.search("tabs", project="atlas")) == ["tabs are eight wide"]
    answer = api.search("tabs", project="atlas", **{"global": False})
    assert answer["results"] == []
    assert answer["diagnostics"]["filtered"] == {"project": 1, "is_global": 0}


def test_type_and_session_stay_exact(saved: Api) -> None:
    saved.save("tabs were discussed", session_id="s1", **{"global": True})
    assert contents(saved.search("tabs", type="style", project="atlas")) == ["a linter trims trailing tabs"]
    assert contents(saved.search("tabs", session_id="s1", project="atlas")) == ["tabs were discussed"]
    assert saved.search("tabs", session_id="s2", project="atlas")["results"] == []


def test_memory_becomes_global_and_is_no_longer(api: Api) -> None:
    memory = api.save("tabs are used", project="borea")
    for is_global in (True, False, True):
        assert api.patch(f"{MEMORIES}/{memory['id']}", {"global": is_global}).status_code == 200
        assert bool(api.search("tabs", project="atlas")["results"]) is is_global


def test_global_memory_does_not_leave_its_scope() -> None:
    writer = api_for(Scope(), Permission.OPERATOR)
    for user, household in (("ana", "home"), ("ana", "away"), ("ben", "home")):
        content = f"tabs of {user} at {household}"
        writer.save(content, user_id=user, household_id=household, project="borea", **{"global": True})
    answer = api_for(Scope("ana", "home"), Permission.READ).search("tabs", project="atlas")
    assert contents(answer) == ["tabs of ana at home"]
    assert answer["diagnostics"]["considered_count"] == 1


def test_lists_and_filters_compare_tags_as_they_are(saved: Api) -> None:
    listed = saved.get(f"{MEMORIES}?project=atlas").json()["results"]
    in_atlas = {content for content, tags in SAVED.items() if tags.get("project") == "atlas"}
    assert {memory["content"] for memory in listed} == in_atlas
    assert set(contents(saved.search("tabs", filter={"project": "atlas"}))) == in_atlas
    counted = saved.post(f"{MEMORIES}/delete", {"filter": {"project": "atlas"}, "dry_run": True}).json()
    assert counted["matched"] == len(in_atlas)
