"""The page about the API: five steps to be copied, and below them every operation with its example."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularSwaggerView
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.pages.addresses import hub_address

Body = dict[str, Any]
PYTHON_BEGIN = """import json
import os
from urllib.request import Request, urlopen

HUB = "{base}"


def hub(path, body=None, key=None):
    data = None if body is None else json.dumps(body).encode()
    request = Request(HUB + path, data)
    request.add_header("Authorization", f"Bearer {{key or KEY}}")
    request.add_header("Content-Type", "application/json")
    with urlopen(request) as answer:
        return json.load(answer)


"""


@dataclass(frozen=True)
class Step:
    """name: for its fields. title, note: for people. curl, python: what is copied."""

    name: str
    title: str
    note: str
    curl: str
    python: str

    @property
    def ways(self) -> list[tuple[str, str, int]]:
        """Return each way with its text and how many lines that has."""
        return [(way, text, text.count("\n") + 1) for way, text in (("curl", self.curl), ("Python", self.python))]


@dataclass(frozen=True)
class Call:
    """A call of a step. body: None for a GET."""

    path: str
    body: Body | None = None

    def curl(self, base: str) -> str:
        """Return the call by curl, with the key of the shell."""
        call = f'curl -s "{base}{self.path}" \\\n  -H "Authorization: Bearer $KEY"'
        return call if self.body is None else f"{call} \\\n{curl_body(self.body)}"

    def python(self) -> str:
        """Return the call by the function of the first step."""
        body = "" if self.body is None else f", {python_body(self.body)}"
        return f'print(hub("{self.path}"{body}))'


MEMORIES = "/api/semantic/memories"
KEY: Body = {"name": "my application", "user_id": "ana", "permissions": ["read", "write"]}
SAVED: Body = {"user_id": "ana", "content": "Ana lives in Lisbon."}
CORRECTED: Body = {"user_id": "ana", "content": "Ana does not live in Lisbon."}
QUESTION: Body = {"user_id": "ana", "query": "where does Ana live?"}
EVENT: Body = {
    "user_id": "ana",
    "timestamp": "2026-03-01T09:30:00Z",
    "event_type": "visit",
    "content": "Ana was at the dentist",
}
WINDOW: Body = {"user_id": "ana", "from": "2026-02-01T00:00:00Z", "to": "2026-04-01T00:00:00Z"}
LATER_STEPS: tuple[tuple[str, str, str, tuple[Call, ...]], ...] = (
    (
        "save",
        "Save a memory",
        "Send one sentence that makes sense on its own. The answer says what the hub did with it:"
        " inserted, merged, superseded.",
        (Call(MEMORIES, SAVED),),
    ),
    (
        "search",
        "Search",
        "Ask in plain words. Results are ranked by meaning and by words.",
        (Call("/api/semantic/search", QUESTION),),
    ),
    (
        "timeline",
        "Record an event and find it again",
        "The timeline keeps what happened and when. Query it by time, by words and by meaning.",
        (Call("/api/episodic/events", EVENT), Call("/api/episodic/query", WINDOW)),
    ),
    (
        "decisions",
        "See what the hub decided",
        "Save the opposite, then list the decisions: each says which memory is current and why. "
        "You can accept, override and revert them.",
        (Call(MEMORIES, CORRECTED), Call("/api/semantic/conflicts?user_id=ana")),
    ),
)


def curl_body(body: Body) -> str:
    """Return the options of curl that send JSON."""
    return f"  -H \"Content-Type: application/json\" \\\n  -d '{json.dumps(body)}'"


def python_body(body: Body) -> str:
    """Return a body as Python has it, in lines of a readable length."""
    text = json.dumps(body)
    if len(text) < 60:
        return text
    lines = "".join(f"    {json.dumps(name)}: {json.dumps(value)},\n" for name, value in body.items())
    return f"{{\n{lines}}}"


def first_steps(base: str) -> Iterator[Step]:
    """Yield the five steps from nothing to a decision. base: the address of the hub, without a slash at its end."""
    read_key = "python3 -c 'import json, sys; print(json.load(sys.stdin)[\"key\"])'"
    yield Step(
        "key",
        "Make a key",
        "Use the operator key that the first start printed, or create a key in the admin under "
        "API keys. This one is bound to ana: it can neither see nor write anything of others.",
        "export OPERATOR_KEY=mh_...\n"
        f'export KEY=$(curl -s {base}/api/keys \\\n  -H "Authorization: Bearer $OPERATOR_KEY" \\\n{curl_body(KEY)} \\\n'
        f"  | {read_key})",
        PYTHON_BEGIN.format(base=base)
        + f'KEY = hub("/api/keys", {python_body(KEY)}, key=os.environ["OPERATOR_KEY"])["key"]',
    )
    for name, title, note, calls in LATER_STEPS:
        by_curl = "\n\n".join(call.curl(base) for call in calls)
        yield Step(name, title, note, by_curl, "\n".join(call.python() for call in calls))


class DeveloperView(SpectacularSwaggerView):
    """The page for developers. It needs no key; each call that is tried on it does."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Show the page."""
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        response.data["steps"] = list(first_steps(hub_address(request)))
        return response
