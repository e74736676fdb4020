"""A hub that is exported and imported: a file of synthetic memories and events, and what both take."""

import json
import os
import resource
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from django.conf import settings
from django.core.management.base import CommandError

USERS = 20
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
# The space of the embedder that the hubs have, so that nothing is embedded again.
MODEL, DIMENSION = "hashing/v1", 384
WORDS = (
    "garden", "kettle", "train", "letter", "window", "cousin", "market", "violin", "winter", "bridge", "coffee",
    "lantern", "harbour", "recipe", "bicycle", "museum",
)  # fmt: skip


def synthetic_export(memories: int, events: int, space: tuple[str, int]) -> Iterator[dict[str, Any]]:
    """Yield the lines of an export: memories with vectors of a space and two steps of history, and events."""
    yield {"kind": "header", "format": 1, "hub": "bench", "asked": {}, "vectors": True}
    random = np.random.default_rng(7)
    for number in range(events):
        yield {**scope(number), "kind": "event", "uuid": uuid(1, number), "timestamp": moment(number),
               "event_type": "note", "content": text(number), "importance": 0.5, "source": "user",
               "metadata": {"page": number}, "recorded_at": moment(number)}  # fmt: skip
    for number in range(memories):
        yield memory(number, space, random.standard_normal(space[1]).astype("<f4"))
    yield {"kind": "end", "lines": counts({"event": events, "memory": memories}), "complete": True}


def counts(found: Mapping[str, int]) -> dict[str, int]:
    """Return the kinds of which there are any."""
    return {kind: count for kind, count in found.items() if count}


def memory(number: int, space: tuple[str, int], vector: Any) -> dict[str, Any]:
    """Return a memory that was reinforced once."""
    vector /= np.linalg.norm(vector)
    step: dict[str, Any] = {
        "reason": "unique_hash",
        "actor": "bench",
        "at": moment(number),
        "changes": {},
        "conflict": None,
    }
    return {
        **scope(number), "kind": "memory", "uuid": uuid(0, number), "content": text(number), "type": "fact",
        "project": WORDS[number % 7], "keywords": [WORDS[number % 5]], "decay_policy": "reinforceable",
        "metadata": {"page": number}, "created_at": moment(number), "updated_at": moment(number),
        "history": [{"action": "created", **step}, {"action": "reinforced", **step}],
        "embedding": {"model": space[0], "dimension": space[1], "is_given": False,
                      "vector": b64encode(vector.tobytes()).decode()},
    }  # fmt: skip


def scope(number: int) -> dict[str, str]:
    """Return whose an item is."""
    return {"user_id": f"bench-{number % USERS:02}", "household_id": "bench"}


def uuid(kind: int, number: int) -> str:
    """Return an id that only this item has."""
    return str(UUID(int=(kind << 100) + (4 << 76) + (8 << 60) + number))


def moment(number: int) -> str:
    """Return when an item came."""
    return (BEGIN + timedelta(minutes=number)).isoformat()


def text(number: int) -> str:
    """Return a sentence of about a hundred characters."""
    words = [WORDS[(number // 16**place) % 16] for place in range(4)]
    return f"Number {number}: the {words[0]} by the {words[1]} belongs to the {words[2]}, as the {words[3]} has shown."


@contextmanager
def empty_hub(models: Path | None = None, **variables: str) -> Iterator[dict[str, str]]:
    """Yield the environment of a new hub with its own database, which is removed afterwards.

    models: embedding models that are made already, if there are any. variables: of the environment.
    """
    from memoryhub.postgres.server import EmbeddedDatabase

    with tempfile.TemporaryDirectory(prefix="memoryhub-bench-") as place:
        kept = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
        hub = {
            **kept,
            "MEMORYHUB_DATA_DIR": str(Path(place) / "data"),
            "MEMORYHUB_API_KEY": secrets.token_urlsafe(32),
            "MEMORYHUB_EMBEDDER": "hashing",
            **variables,
        }
        if models and models.is_dir():
            shutil.copytree(models, Path(place) / "data" / "models")
        manage(hub, "prepare")
        EmbeddedDatabase(Path(place) / "data").start()
        try:
            yield hub
        finally:
            EmbeddedDatabase(Path(place) / "data").stop()


def manage(hub: Mapping[str, str], *arguments: str) -> float:
    """Run a management command for a hub, and return the seconds that it took. Raises CommandError."""
    began = time.perf_counter()
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), *arguments]
    done = subprocess.run(command, env=dict(hub), capture_output=True, check=False, text=True)
    if done.returncode:
        raise CommandError(f"`manage.py {arguments[0]}` failed:\n{done.stderr[-2_000:]}")
    return time.perf_counter() - began


def run_in(hub: Mapping[str, str], *arguments: str) -> None:
    """Run a management command for a hub, with its output shown. Raises CommandError."""
    done = subprocess.run(
        [sys.executable, str(settings.BASE_DIR / "manage.py"), *arguments], env=dict(hub), check=False
    )
    if done.returncode:
        raise CommandError("The measurement failed.")


def measure_exports(memories: int, events: int) -> dict[str, Any]:
    """Import a synthetic export into a hub, export it, import that into another hub, and export again.

    The start of a command, measured by an export of nothing, is taken off. Raises CommandError when the exports differ.
    """
    with tempfile.TemporaryDirectory(prefix="memoryhub-bench-") as place:
        files = [Path(place) / name for name in ("synthetic.jsonl", "first.jsonl", "second.jsonl")]
        with files[0].open("w") as file:
            file.writelines(json.dumps(line) + "\n" for line in synthetic_export(memories, events, (MODEL, DIMENSION)))
        seconds: dict[str, float] = {}
        for number in (1, 2):
            with empty_hub() as hub:
                start = manage(hub, "export", "--user", "unknown")
                seconds[f"import_{number}"] = manage(hub, "import", str(files[number - 1])) - start
                export = manage(hub, "export", "--vectors", "--output", str(files[number]))
                seconds[f"export_{number}"] = export - start
        if files[1].read_bytes() != files[2].read_bytes():
            raise CommandError("The second hub exported something else than the first one.")
        size = files[1].stat().st_size
    items = memories + events
    return {
        "memories": memories,
        "events": events,
        "bytes": size,
        "seconds": {name: round(taken, 1) for name, taken in seconds.items()},
        "items_per_second": {name: round(items / taken) for name, taken in seconds.items()},
        "largest_process_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
        "equal": True,
    }
