"""The OpenAPI document is true: generated without a warning, and kept by every answer (DESIGN section 5)."""

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import hypothesis
import pytest
import schemathesis
import yaml
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from schemathesis.checks import load_all_checks
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.specs.openapi.checks import positive_data_acceptance

from apps.core.domain.scope import Permission, Scope
from apps.core.services import key_create
from tests.api import Api
from tests.document import document, operations
from tests.effort import examples

pytestmark = pytest.mark.django_db

# What no JSON Schema can say, as (field, code): only an answer that names one of these, and nothing else, may
# refuse input that the document allows. All other checks apply to these answers, too.
RULES = {
    ("permissions", "invalid"),  # an operator key is bound to nothing
    ("expires_at", "invalid"),  # an expiry lies in the future
    ("expires_at", "in_the_past"),
    ("unbound", "required"),  # a bound, or that there shall be none
    ("unbound", "contradiction"),  # not both
    ("If-Match", "invalid"),  # versions in quotation marks
    ("embedding", "dimension"),  # as many numbers as the active model gives
    ("embedding", "zero"),
    ("embedding", "invalid"),  # a change brings a vector with a new content only
    ("content", "required"),  # a change names something
    ("ids", "required"),  # a deletion of many names ids or a filter
    ("filter", "invalid_filter"),  # a filter is a document in its own language
    ("filter", "empty"),  # a deletion of many says what
    *((name, "in_the_future") for name in ("timestamp", "at")),  # an event has happened, a message was said
    *((name, "characters") for name in ("metadata", "value", "mapping", "filter")),  # no NUL at any depth
    ("metadata", "too_deep"),
    ("metadata", "too_large"),
    ("query", "required"),  # a query, an embedding, or both; words for a mode that needs words
    ("from", "invalid"),  # from <= to
    ("top_k", "contradiction"),  # the same as limit, where both are given
    ("filter", "invalid_filter"),  # fields and operators that there are
    ("event_types", "invalid"),  # words with commas between them
    ("event_types", "max_length"),  # of a word
    ("last_days", "invalid"),  # a window or a number of days, not both
    ("time_window.from", "invalid"),  # from <= to
    ("timezone", "unknown_timezone"),  # a name of IANA
    ("time_window", "invalid"),  # a window once: as an object, or by its two ends
    ("candidate.embedding", "dimension"),
    ("existing.embedding", "dimension"),
    ("candidate.embedding", "zero"),
    ("existing.embedding", "zero"),
    ("extends", "invalid_rule"),  # a rule that there is, and no circle; none of the default rule
    ("conditions", "invalid_rule"),  # none of the default rule
    ("enabled", "invalid_rule"),  # always of the default rule
    ("conditions.importance_range.min", "invalid_rule"),  # min <= max
    ("arbitration.weights", "invalid_rule"),  # not all zero
    ("detection.weights", "invalid_rule"),
    ("name", "invalid_rule"),  # each name once in a load
    ("include", "max_length"),  # of an owner in a text of several, which has no blank ones and a bounded number
    ("include", "max_items"),
    ("include", "blank"),
    ("include", "invalid"),
    ("messages", "required"),  # messages, recalled texts, or both
    ("tokens_used", "required"),  # usage names its tokens or its share
    ("tokens_used", "invalid"),  # and nothing else does
    ("token_limit", "invalid"),
    ("ratio", "invalid"),
    ("base_sha256", "required"),  # the digest of a note that there is
    ("category", "invalid"),  # one line
    ("path", "path"),  # a place that every file system can hold
    ("path", "too_deep"),
    *((name, "invalid") for name in ("llmGatingModel", "llmExtractionModel", "llmCompactionModel")),  # no controls
    # Of a source: lines that can be printed, a place that can be one, patterns that can be read.
    *((name, "invalid") for name in ("location", "project", "branch", "folder", "exclude", "user_id")),
    ("staleness", "invalid"),  # of at most ten years
    ("item_id", "invalid"),  # of a sync of one item, and of no other
    # Each command needs its own fields.
    *((name, "required") for name in ("path", "file_text", "old_str", "insert_line", "old_path", "new_path")),
    ("insert_text", "required"),
    ("new_str", "required"),
    # Each operation of the store needs its own fields, and takes no others.
    *((name, "invalid") for name in ("namespace", "key", "value", "texts", "ttl", "refresh", "filter", "query")),
    *((name, "invalid") for name in ("limit", "offset", "conditions", "max_depth")),
    ("user_id", "required"),  # a membership is of a user in one of the two
    ("device_code", "expired_token"),  # of an app that asked for a key just now
}
ERRORS = {"400", "401", "403", "404", "409", "503"}
# The server's own, of any request: too much body, too long a head.
OF_THE_SERVER = {"413", "431"}
# By these an app that has no key asks for one.
WITHOUT_KEY = {"apps_connect", "apps_connect_token"}


SCHEMA = schemathesis.openapi.from_dict(document())
SCHEMA.app = get_wsgi_application()


@schemathesis.serializer("application/x-ndjson")
def _lines(_context: Any, value: Any) -> Any:
    """A body of lines, which any text is: each line is refused alone."""
    if not isinstance(value, str):
        hypothesis.reject()
    return value.encode("utf-8", "surrogatepass")


@pytest.fixture(autouse=True)
def _one_transaction() -> Iterator[None]:
    """Keep the end of a request from closing the connection that holds the test's transaction."""
    moments = (request_started, request_finished)
    for moment in moments:
        moment.disconnect(close_old_connections)
    yield
    for moment in moments:
        moment.connect(close_old_connections)


@pytest.fixture(autouse=True)
def _without_constants_of_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep Hypothesis from drawing constants of whatever is imported: the same requests, whatever ran before."""
    nothing = Constants()
    monkeypatch.setattr(providers, "_get_local_constants", lambda: nothing)
    providers.CONSTANTS_CACHE.cache.clear()
    yield
    providers.CONSTANTS_CACHE.cache.clear()


@pytest.fixture(autouse=True)
def _one_user(settings: Any) -> None:
    """As in a hub for one person, so that whether a save needs a user does not depend on the key."""
    settings.MEMORYHUB = replace(settings.MEMORYHUB, default_user="ana")


@pytest.fixture
def headers() -> dict[str, str]:
    _, secret = key_create(name="schema", scope=Scope(), permission=Permission.OPERATOR, actor="test")
    return {"Authorization": f"Bearer {secret}"}


def broken_rules(response: schemathesis.Response) -> set[tuple[str, str]]:
    """The (field, code) pairs of a 400 or 422; a pair that is no rule for any other answer."""
    if response.status_code not in (400, 422):
        return {("", "")}
    return {(_own_path(error["attr"]), error["code"]) for error in response.json()["errors"]}


def _own_path(attr: str | None) -> str:
    """The path within a rule, wherever in the input the rule stands; of a filter only that it is one."""
    path = re.sub(r"^(config|changes|rules\.\d+|operations\.\d+|messages\.\d+)\.", "", attr or "")
    path = re.sub(r"^include\.\d+$", "include", path)
    return re.sub(r"^filter\..*", "filter", path, flags=re.DOTALL)


@hypothesis.settings(
    max_examples=examples(15),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
)
def keep_to_the_document(case: schemathesis.Case, headers: dict[str, str]) -> None:
    """Check the answer to a request that is made from the document."""
    response = case.call(headers=headers)
    excluded = [positive_data_acceptance] if broken_rules(response) <= RULES else []
    case.validate_response(response, excluded_checks=excluded, headers=headers)


@pytest.mark.parametrize("name", operations())
def test_every_answer_keeps_to_the_document(name: str, headers: dict[str, str]) -> None:
    # `SCHEMA.parametrize` makes the requests of all operations as tests are collected: 100 s in every process.
    load_all_checks()
    method, path, _ = operations()[name]
    made = build_operation_test(
        config=SCHEMA.config,
        operation=SCHEMA[path][method],
        test_func=keep_to_the_document,
        given_kwargs={},
        # Without the constants of what happens to be imported: the same requests, whatever ran before.
        feedback=FeedbackSources(),
    )
    made(headers=headers)


def test_document_is_made_without_a_warning() -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=io.StringIO())


def test_every_operation_has_a_name_of_its_own() -> None:
    assert len(operations()) == len(SCHEMA)


def test_every_operation_asks_for_a_key() -> None:
    asked = {name: operation.get("security") for name, (_, _, operation) in operations().items()}
    assert asked == {name: None if name in WITHOUT_KEY else [{"ApiKey": []}] for name in operations()}


def test_every_operation_says_how_it_fails() -> None:
    silent = {}
    for name, (method, _, operation) in operations().items():
        expected = ERRORS - {"401", "403", "404", "409"} if name in WITHOUT_KEY else ERRORS
        expected = expected | OF_THE_SERVER | ({"415"} if method in {"post", "put", "patch"} else set())
        silent[name] = expected - operation["responses"].keys()
    assert {name: missing for name, missing in silent.items() if missing} == {}


def test_the_key_is_described_as_a_bearer_token() -> None:
    assert document()["components"]["securitySchemes"]["ApiKey"]["scheme"] == "bearer"


def test_every_body_refuses_unknown_fields() -> None:
    bodies = {name: shape for name, shape in document()["components"]["schemas"].items() if name.endswith("Request")}
    assert len(bodies) >= 4
    assert [name for name, shape in bodies.items() if "enum" not in shape and shape["additionalProperties"]] == []


def test_document_is_served_as_it_is_generated() -> None:
    served = yaml.load(Api().get("/api/schema").content, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    assert served["paths"] == document()["paths"]


def test_page_about_api_is_served_without_key(settings: Any) -> None:
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
    response = Api().get("/api/docs")
    assert response.status_code == 200
    assert b"/api/schema" in response.content


def test_no_text_may_be_two_things_at_once() -> None:
    text = str(document())
    assert "'maxLength': 0" not in text
