"""Every operation of the API has a summary and an example, and the hub answers each example as it is documented."""

import json
from pathlib import Path
from typing import Any

import pytest

from apps.core.domain.scope import Permission, Scope
from apps.core.services import key_create
from tests.api import Api
from tests.document import operations
from tests.integration.memoryhub.story import (
    EXAMPLES,
    Story,
    differences,
    given_in,
    prepared,
)

MAX_SUMMARY_CHARS = 40


@pytest.fixture
def story(db: None, timeline_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Story:
    """A hub after its first start, whose operator executes the examples."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    _, secret = key_create(name="operator", scope=Scope(), permission=Permission.OPERATOR, actor="first start")
    return Story(Api(secret))


@pytest.mark.parametrize("operation_id", EXAMPLES)
def test_example_is_answered_as_documented(operation_id: str, story: Story, settings: Any) -> None:
    example = EXAMPLES[operation_id]
    for earlier in example.after:
        with prepared(earlier, settings):
            status, answer = story.execute(earlier)
        assert status == EXAMPLES[earlier].status, answer
    with prepared(operation_id, settings):
        status, answer = story.execute(operation_id)
    assert (status, example.status // 100) == (example.status, 2), answer
    found = list(differences(example.answer, answer, given=given_in(operation_id)))
    assert found == [], f"answered was {json.dumps(answer, ensure_ascii=False)}"


def test_every_operation_has_example_in_its_app_and_each_belongs_to_one() -> None:
    assert EXAMPLES.keys() == operations().keys(), "examples are in the `rest/examples.yaml` of the apps"


@pytest.mark.parametrize("operation_id", EXAMPLES)
def test_operation_has_summary_and_shows_example(operation_id: str) -> None:
    _, _, operation = operations()[operation_id]
    assert 5 < len(operation.get("summary", "")) <= MAX_SUMMARY_CHARS
    assert not operation["summary"].endswith(".")
    shown = {parameter["name"] for parameter in operation.get("parameters", []) if "example" in parameter}
    needed = {parameter["name"] for parameter in operation.get("parameters", []) if parameter.get("required")}
    example = EXAMPLES[operation_id]
    assert needed <= shown == {*example.path, *example.query, *example.headers}
    request = operation.get("requestBody", {}).get("content", {})
    assert [content["examples"]["example"]["value"] for content in request.values()] == [example.body] * len(request)
    answers = operation["responses"][str(example.status)].get("content", {})
    assert [content["examples"]["example"]["value"] for content in answers.values()] == [example.answer] * len(answers)


def test_every_operation_has_another_summary() -> None:
    summaries = [operation.get("summary") for _, _, operation in operations().values()]
    assert len(set(summaries)) == len(summaries)


@pytest.mark.parametrize(
    ("documented", "real"),
    [
        ({"a": 1}, {}),
        ({}, {"a": 1}),
        ({"a": 1}, {"a": "1"}),
        ({"a": 1}, {"a": True}),
        ({"a": None}, {"a": 1}),
        ({"a": "open"}, {"a": "closed"}),
        ({"a": True}, {"a": False}),
        ([], [1]),
        ([1], []),
        ([{"a": 1}, {"b": 1}], [{"a": 1}]),
        ({"a": [{"b": 1}]}, {"a": [{"b": None}]}),
    ],
)
def test_another_shape_is_noticed(documented: Any, real: Any) -> None:
    assert list(differences(documented, real)) != []


def test_the_same_shape_with_other_values_is_none() -> None:
    documented = {"a": 0.5, "b": "2026-03-01", "c": ["x y"], "d": None, "word": "open"}
    real = {"word": "open", "d": None, "c": ["other words", "more"], "b": "2027-01-01", "a": 1}
    assert list(differences(documented, real)) == []
