"""The tools that models may ask for, over REST."""

import pytest
from jsonschema import Draft202012Validator

from apps.core.domain.scope import Permission, Scope
from apps.llm.tools.requests import tool_registry
from tests.api import api_for
from tests.hostile.support import assert_refused

pytestmark = pytest.mark.django_db

TOOLS = "/api/llm/tools"


def test_every_registered_tool_is_listed_with_schema_by_which_it_is_checked() -> None:
    answer = api_for(Scope()).get(TOOLS).json()
    registered = list(tool_registry())
    assert [tool["name"] for tool in answer["results"]] == [tool.name for tool in registered]
    assert [tool["parameters"] for tool in answer["results"]] == [dict(tool.parameters) for tool in registered]
    assert answer["count"] == len(registered) >= 3
    for tool in answer["results"]:
        Draft202012Validator.check_schema(tool["parameters"])
        assert tool["description"]


@pytest.mark.parametrize("permission", list(Permission))
def test_tools_that_caller_may_use_are_marked(permission: Permission) -> None:
    results = api_for(Scope(), permission).get(TOOLS).json()["results"]
    allowed = {tool["name"] for tool in results if tool["allowed"]}
    needed = {tool["name"]: tool["permission"] for tool in results}
    expected = {name for name, need in needed.items() if permission is not Permission.READ or need == "read"}
    assert allowed == expected
    assert "memory_search" in allowed


def test_a_key_with_a_bound_sees_the_same_tools() -> None:
    assert api_for(Scope(user_id="ana")).get(TOOLS).json() == api_for(Scope()).get(TOOLS).json()


def test_a_list_of_tools_is_not_posted_to() -> None:
    assert_refused(api_for(Scope()).post(TOOLS, {}), 405, None)
