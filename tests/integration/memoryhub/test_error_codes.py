"""The codes of errors: each that the API conventions list exists with its status, and no other one is answered."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from django.conf import settings
from rest_framework import exceptions, serializers

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Permission, Scope
from apps.core.schemas.errors import STATUS_OF
from apps.semantic.models import MemoryStatus, ReviewState
from tests.api import MEMORIES, SEARCH, Api, api_for

ROOT = Path(settings.BASE_DIR)
PAGE = (ROOT / "docs" / "reference" / "api-conventions.md").read_text("utf-8")
ROW = re.compile(r"^\| (`\w+`(?:, (?:`\w+`|\.\.\.))*) \| (\d{3}) \|", re.MULTILINE)
# Raised by commands, pages and the worker alone, or in the middle of an answer that is a stream; the code of a
# class that is always raised with another one; and PARTIAL_FAILURE, which a run has and no answer.
NOT_OVER_REST = {
    "PARTIAL_FAILURE", "disk_nearly_full", "export_broken", "file_gone", "files_changed", "global_policy",
    "import_busy", "import_open", "managed_changed", "not_paused", "not_replaced", "not_stored", "not_waiting",
    "note_exists", "paused", "purge_incomplete", "stale_segment", "throttled", "unreadable", "writers_at_work",
    "wrong_segment_state",
}  # fmt: skip
# Made of the status of a memory or of a receipt.
MADE = {status.value for status in MemoryStatus} | {f"already_{state.value}" for state in ReviewState}


def documented() -> dict[str, int]:
    """Return the status of each code in the table of the page."""
    section = PAGE[PAGE.index("\n## Errors") : PAGE.index("\n## Batches")]
    return {code: int(status) for codes, status in ROW.findall(section) for code in re.findall(r"`(\w+)`", codes)}


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Yield the name and the tree of each module of the apps that has errors."""
    for path in sorted((ROOT / "apps").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        text = "" if "migrations" in parts else path.read_text("utf-8")
        if "code=" in text or re.search(r"^class \w+(Error|Field)\b", text, re.MULTILINE):
            yield ".".join(parts).removesuffix(".__init__"), ast.parse(text)


def subclasses(kind: type) -> Iterator[type]:
    """Yield all classes below one."""
    for below in kind.__subclasses__():
        yield below
        yield from subclasses(below)


def codes_in(name_of_module: str, tree: ast.Module, statuses: dict[str, int]) -> Iterator[tuple[str, int]]:
    """Yield the codes that calls in a module name, also as constants, with statuses; 400 where the class has none."""
    module = import_module(name_of_module)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            for keyword in node.keywords:
                value = keyword.value
                code = value.value if isinstance(value, ast.Constant) else getattr(module, getattr(value, "id", ""), "")
                if keyword.arg == "code" and isinstance(code, str) and code:
                    yield code, statuses.get(name, 503 if name == "__init__" else 400)


@pytest.fixture(scope="module")
def existing() -> dict[str, set[int]]:
    """The statuses of each code that the code of the apps, or DRF, can answer."""
    trees = list(modules())
    for name, _ in trees:
        import_module(name)
    found: dict[str, set[int]] = defaultdict(set)
    statuses: dict[str, int] = {}
    for kind in subclasses(MemoryHubError):
        statuses[kind.__name__] = next(status for above, status in STATUS_OF if issubclass(kind, above))
        found[kind.code].add(statuses[kind.__name__])  # type: ignore[attr-defined]
    for kind in (exceptions.APIException, *subclasses(exceptions.APIException)):
        found[str(kind.default_code)].add(kind.status_code)  # type: ignore[attr-defined]
    for kind in subclasses(serializers.Field):
        for code in kind.default_error_messages:  # type: ignore[attr-defined]
            found[code].add(400)
    for name, tree in trees:
        for code, status in codes_in(name, tree, statuses):
            found[code].add(status)
    found["overloaded"].add(503)
    for code in MADE:
        found[code].add(409)
    return found


def test_documented_codes_exist(existing: dict[str, set[int]]) -> None:
    assert len(documented()) > 40
    assert {code: status for code, status in documented().items() if status not in existing[code]} == {}


def test_every_code_is_documented(existing: dict[str, set[int]]) -> None:
    """Except those of single fields, of which there are many: they are answered with 400."""
    answered = {code for code, statuses in existing.items() if statuses - {400}}
    assert answered - NOT_OVER_REST - MADE - documented().keys() == set()
    assert NOT_OVER_REST & documented().keys() == set()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("method", "path", "body", "content_type", "status", "code"),
    [
        ("POST", SEARCH, "{", "application/json", 400, "parse_error"),
        ("POST", SEARCH, "{}", "text/plain", 415, "unsupported_media_type"),
        ("PUT", SEARCH, "{}", "application/json", 405, "method_not_allowed"),
        ("POST", SEARCH, '{"query": "x" , "more": 1}', "application/json", 400, "unknown_field"),
        ("GET", f"{MEMORIES}?limit=1&limit=2", "", "application/json", 400, "repeated"),
        ("GET", f"{MEMORIES}?filter=x", "", "application/json", 400, "invalid_filter"),
        ("GET", "/api/nowhere", "", "application/json", 404, "not_found"),
        ("GET", "/api/keys", "", "application/json", 403, "permission_denied"),
        ("POST", SEARCH, '{"query": "x", "limit": 1, "top_k": 2}', "application/json", 422, "contradiction"),
    ],
)
def test_code_is_answered(method: str, path: str, body: str, content_type: str, status: int, code: str) -> None:
    api = api_for(Scope(user_id="ana"), Permission.READ)
    headers = {"Authorization": f"Bearer {api.key}"}
    response = api.client.generic(method, path, body, content_type=content_type, headers=headers)
    assert (response.status_code, response.json()["errors"][0]["code"]) == (status, code)
    assert documented()[code] == status


@pytest.mark.django_db
@pytest.mark.parametrize("key", [None, "mh_wrong"])
def test_code_without_valid_key_is_documented(key: str | None) -> None:
    response = Api(key).get(MEMORIES)
    assert documented()[response.json()["errors"][0]["code"]] == response.status_code == 401
