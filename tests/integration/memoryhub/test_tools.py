from inspect import signature

import pytest
from django.utils.module_loading import import_string

from apps.llm.domain.tools import Tool
from apps.llm.tools.requests import tool_registry
from memoryhub.tools import TOOLS


@pytest.mark.parametrize("path", TOOLS)
def test_every_entry_of_the_table_is_a_tool(path: str) -> None:
    tool = import_string(path)
    assert isinstance(tool, Tool)
    assert len(signature(tool.handler).parameters) == 2
    assert tool.description.endswith(".")


def test_registry_holds_table_in_its_order() -> None:
    assert [tool.name for tool in tool_registry()] == [import_string(path).name for path in TOOLS]


def test_memories_can_be_saved_searched_and_reinforced() -> None:
    assert {"memory_save", "memory_search", "memory_reinforce"} <= {tool.name for tool in tool_registry()}


@pytest.mark.parametrize("path", TOOLS)
def test_tool_takes_no_parameter_that_it_does_not_name(path: str) -> None:
    assert import_string(path).parameters["additionalProperties"] is False
