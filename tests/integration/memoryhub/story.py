"""Examples of the API executed by a real hub, where what they name has other ids."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote, urlencode

from django.apps import apps
from django.http import HttpResponse

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Permission, system_access
from apps.core.schemas.examples import Example, read_examples
from apps.llm.providers.scripted import ScriptedChat
from apps.notes.compaction.decide import compaction_apply
from apps.notes.compaction.run import compaction_run
from apps.notes.domain.places import MAIN
from apps.notes.files.changes import note_append
from apps.notes.models import Compaction
from apps.notes.services import runs_continue
from apps.people.models import ConnectionRequest
from apps.people.services import connection_answer
from apps.sync.models import KnowledgeSource, SyncKind
from apps.sync.services import sync_run
from tests.api import Api
from tests.document import operations
from tests.integration.core.processes import beside
from tests.integration.episodic.timeline import Timeline
from tests.integration.llm.chat_server import Reply, running_chat_server
from tests.integration.llm.configuring import MODEL, call, configured, price, spent
from tests.integration.sync.repository.repositories import Origin

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
WORD = re.compile(r"[a-z_]+")
# The files of the source of the examples: two decisions, and one that has no text yet.
EVENTS = "docs/adr/0017-events-between-services.md"
DECISIONS = {
    "docs/adr/0012-calls-between-services.md": (
        "# 12. Calls between services\n\n## Status\n\nAccepted\n\n## Context\n\nServices need data of each other.\n"
        "\n## Decision\n\nServices call each other over REST.\n"
    ),
    EVENTS: (
        "---\nid: ADR-0017\ntitle: Events between services\nstatus: accepted\n"
        "summary: Services publish what has changed, and do not call each other.\n"
        "constraints:\n  - No service calls another one while it answers a request.\n"
        "tags: [messaging]\nsupersedes: [ADR-0012]\n---\n\nEach service keeps a copy of the data that it needs.\n"
    ),
    "docs/adr/0018-draft.md": "",
}
# What the hub makes up, besides ids; later examples may name it.
MADE_UP = ("version", "key", "commit", "device_code")


def documented_examples() -> dict[str, Example]:
    """The examples of all apps by operation id."""
    packages = [f"{app.name}.rest" for app in apps.get_app_configs() if app.name.startswith("apps.")]
    found: dict[str, Example] = {}
    for package in packages:
        if find_spec(package):
            found |= read_examples(package)
    return found


EXAMPLES = documented_examples()


@dataclass
class Story:
    """Executes examples. names: what this hub has for the ids, versions and secrets of the examples."""

    api: Api
    names: dict[str, str] = field(default_factory=dict)

    def execute(self, operation_id: str) -> tuple[int, Any]:
        """Return the status and the content of the answer to an example."""
        example = EXAMPLES[operation_id]
        response = self.send(operation_id, self.translated(example))
        answer = content_of(response)
        self.names |= new_names(example.answer, answer)
        return response.status_code, answer

    def translated(self, example: Example) -> Example:
        """Return an example with the names of this hub."""

        def translate(value: Any) -> Any:
            text = json.dumps(value)
            for documented, real in self.names.items():
                text = text.replace(documented, real)
            return json.loads(text)

        parts = ("path", "query", "headers", "body")
        return replace(example, **{part: translate(getattr(example, part)) for part in parts})

    def send(self, operation_id: str, example: Example) -> HttpResponse:
        """Return the answer to the request of an example."""
        method, path, operation = operations()[operation_id]
        for name, value in example.path.items():
            path = path.replace(f"{{{name}}}", quote(value, safe=""))
        query = {name: json.dumps(value).strip('"') if not isinstance(value, str) else value
                 for name, value in example.query.items()}  # fmt: skip
        body = example.body if isinstance(example.body, str | None) else json.dumps(example.body)
        response: HttpResponse = self.api.client.generic(
            method.upper(),
            f"{path}?{urlencode(query)}" if query else path,
            body or "",
            content_type=next(iter(operation.get("requestBody", {}).get("content", ())), "application/json"),
            headers={"Authorization": f"Bearer {self.api.key}", **example.headers},
        )
        return response


def content_of(response: Any) -> Any:
    """Return what was answered: of JSON its value, otherwise the text, None for nothing."""
    raw = b"".join(response.streaming_content) if response.streaming else response.content
    if not raw:
        return None
    return json.loads(raw) if response.headers["Content-Type"] == "application/json" else raw.decode()


def read_lines(text: str) -> list[Any]:
    """Return the values of JSON Lines."""
    return [json.loads(line) for line in text.splitlines()]


def is_lines(value: Any) -> bool:
    """Return whether a value is the text of JSON Lines."""
    return isinstance(value, str) and value.startswith("{") and value.endswith("}\n")


def new_names(documented: Any, real: Any, key: str = "") -> dict[str, str]:
    """Return the real id, version or secret for each documented one."""
    found: dict[str, str] = {}
    if isinstance(documented, dict) and isinstance(real, dict):
        for name, value in documented.items():
            found |= new_names(value, real.get(name), name)
    elif is_lines(documented) and is_lines(real):
        found |= new_names(read_lines(documented), read_lines(real))
    elif isinstance(documented, list) and isinstance(real, list):
        for one, other in zip_longest(documented, real):
            found |= new_names(one, other, key)
    elif isinstance(documented, str) and isinstance(real, str) and (UUID.fullmatch(documented) or key in MADE_UP):
        found |= {documented: real} if documented else {}
    return found


def strings_in(value: Any) -> set[str]:
    """Return all texts in a value, but ids."""
    if isinstance(value, dict):
        return set().union(*map(strings_in, value.values()))
    if isinstance(value, list):
        return set().union(*map(strings_in, value))
    return {value} if isinstance(value, str) and not UUID.fullmatch(value) else set()


def given_in(operation_id: str) -> set[str]:
    """Return the texts that the callers of an example and of those before it give."""
    example = EXAMPLES[operation_id]
    return strings_in(example.body).union(*map(given_in, example.after))


def differences(documented: Any, real: Any, path: str = "", given: Collection[str] = ()) -> Iterator[str]:
    """Yield where two answers have other keys, other kinds of values, other words of programs or other texts `given`.

    A list has an item of the shape of each documented one, and none if none is documented.
    """
    if isinstance(documented, dict) and isinstance(real, dict):
        for name in sorted(documented.keys() | real.keys()):
            if name not in real:
                yield f"{path}.{name} is not answered"
            elif name not in documented:
                yield f"{path}.{name} is not documented"
            else:
                yield from differences(documented[name], real[name], f"{path}.{name}", given)
    elif is_lines(documented) and is_lines(real):
        yield from differences(read_lines(documented), read_lines(real), path, given)
    elif isinstance(documented, list) and isinstance(real, list):
        if real and not documented:
            yield f"{path} is documented as empty"
        for number, one in enumerate(documented):
            found = [list(differences(one, other, f"{path}.{number}", given)) for other in real]
            yield from min(found, key=len, default=[f"{path} is answered empty"])
    elif not is_alike(documented, real, path, given):
        yield f"{path} is documented as {documented!r}, and {real!r} was answered"


def is_alike(documented: Any, real: Any, path: str, given: Collection[str]) -> bool:
    """Return whether two values are of a kind, and are the same where they are words or texts that were given."""
    is_fixed = isinstance(documented, str) and (is_word(documented, path) or documented in given)
    return documented == real if is_fixed else kind_of(documented) == kind_of(real)


def kind_of(value: Any) -> str:
    """Return the type of a value, and of a boolean the value."""
    if isinstance(value, bool | None):
        return str(value)
    return "number" if isinstance(value, int | float) else type(value).__name__


def is_word(value: Any, path: str) -> bool:
    """Return whether a value is a word for programs; a name that people choose is none."""
    return isinstance(value, str) and WORD.fullmatch(value) is not None and not path.endswith(".store.name")


@contextmanager
def archived(settings: Any) -> Iterator[None]:
    """Put the events that there are into a file."""
    Timeline().archive()
    yield


@contextmanager
def processes(settings: Any) -> Iterator[None]:
    """Have a web process and a worker that run."""
    checks = {"files": "ok", "embedding": "ok", "index": "ok", "timeline": "ok"}
    index = next(one["index"] for one in EXAMPLES["status"].answer["processes"])
    beside("web", facts={"index": index}, **checks)
    beside("worker")
    yield


@contextmanager
def chat_model(settings: Any) -> Iterator[None]:
    """Have a chat model with a price, a budget and calls."""
    with (
        running_chat_server() as server,
        configured(settings, replace(MODEL, base_url=server.base_url("openai")), budget="10"),
    ):
        server.say(Reply(models=("gpt-5", "gpt-5-mini")))
        name = f"openai@{server.address.removeprefix('http://')}"
        now = utcnow(SYSTEM_CLOCK)
        price(provider=name)
        spent("0.18", now.date())
        for number in range(40):
            call(provider=name, started_at=now, latency_ms=800 + number)
        yield


@contextmanager
def drafted(settings: Any) -> Iterator[None]:
    """Have a model answer what was asked about MEMORY.md."""
    price(provider="openai", model="gpt-4o-mini")
    for fact in ("Ana likes green tea a lot.", "Ana rows on Sundays."):
        note_append("ana", MAIN, fact, category="Preferences", author="test")
    items = [{"facts": [1, 2], "text": "Ana likes green tea a lot."}, {"facts": [3], "text": "Ana rows on Sundays."}]
    model = ScriptedChat([json.dumps({"items": items})], name="openai", model="gpt-4o-mini")
    compaction_run(Compaction.objects.get().uuid, providers=[model])
    yield


@contextmanager
def applied(settings: Any) -> Iterator[None]:
    """Have a draft that was applied."""
    with drafted(settings):
        compaction_apply(Compaction.objects.get().uuid, actor="test")
        yield


@contextmanager
def extracted(settings: Any) -> Iterator[None]:
    """Have a worker take the runs of extraction that wait."""
    runs_continue()
    yield


@contextmanager
def repository(settings: Any) -> Iterator[None]:
    """Have the source of the example read a repository on this machine."""
    with TemporaryDirectory() as folder:
        settings.SYNC_DIR = Path(folder) / "sync"
        settings.MEMORYHUB = replace(settings.MEMORYHUB, sync=replace(settings.MEMORYHUB.sync, roots=(Path(folder),)))
        KnowledgeSource.objects.update(location=make_decisions(Path(folder) / "decisions.git"))
        yield


def make_decisions(path: Path) -> str:
    """Make the repository of the examples, and return where it is."""
    origin = Origin(path)
    origin.commit({**DECISIONS, EVENTS: DECISIONS[EVENTS].replace("accepted", "proposed")}, "Propose events")
    origin.commit(DECISIONS, "Accept events between services")
    return str(path)


@contextmanager
def synced(settings: Any) -> Iterator[None]:
    """Have the source of the example synced."""
    with repository(settings):
        sync_all()
        yield


@contextmanager
def conflicted(settings: Any) -> Iterator[None]:
    """Have a pointer whose item is gone, about which a person decides."""
    with synced(settings):
        KnowledgeSource.objects.update(resolutions={"orphaned_pointer": "manual"})
        origin = Origin(Path(KnowledgeSource.objects.get().location).with_name("fewer.git"))
        origin.commit({EVENTS: DECISIONS[EVENTS]})
        KnowledgeSource.objects.update(location=str(origin.path))
        sync_all()
        yield


def sync_all() -> None:
    """Sync the source of the example whole."""
    source = KnowledgeSource.objects.get()
    sync_run(access=system_access("key:operator"), uuid=source.uuid, kind=SyncKind.FULL)


# What an example needs besides the examples that it comes after.
@contextmanager
def confirmed(settings: Any) -> Iterator[None]:
    """Have a person confirm the app that asks for a key."""
    waiting = ConnectionRequest.objects.latest("pk")
    connection_answer(uuid=waiting.uuid, user_id="ana", permission=Permission.WRITE)
    yield


PREPARATIONS: Mapping[str, Callable[[Any], AbstractContextManager[None]]] = {
    "apps_connect_token": confirmed,
    "segments_list": archived,
    "extraction_runs_list": extracted,
    "extraction_runs_retrieve": extracted,
    "status": processes,
    "llm_status": chat_model,
    "llm_models": chat_model,
    "notes_compactions_list": drafted,
    "notes_compactions_retrieve": drafted,
    "notes_compactions_apply": drafted,
    "notes_compactions_discard": drafted,
    "notes_compactions_undo": applied,
    "sync_sources_preview": repository,
    "sync_runs_list": synced,
    "sync_items_retrieve": synced,
    "sync_items_diff": synced,
    "sync_items_history": synced,
    "sync_conflicts_list": conflicted,
}


def prepared(operation_id: str, settings: Any) -> AbstractContextManager[None]:
    """Return the preparation of an example."""
    prepare = PREPARATIONS.get(operation_id)
    return prepare(settings) if prepare else nullcontext()
