"""MEMORY.md with facts, and models that answer about it."""

import json
from collections.abc import Iterator
from typing import Any

from apps.core.domain.randomness import DeterministicRNG
from apps.llm.providers.scripted import ScriptedChat, Turn
from apps.notes.compaction.run import compaction_request, compaction_run
from apps.notes.domain.places import MAIN
from apps.notes.files.owner import folder_of
from apps.notes.models import Compaction

MODEL = "gpt-4o-mini"
TEXT = """---
owner: ana
---

# Memory

What is known.

## Preferences

- Ana likes green tea.
- Ana likes green tea a lot.
- Ana does not eat meat.

```
- not a fact
```

## About

* Ana has 2 cats.
* Ana has 2 cats and a dog.
* Ana plans to move to Oslo in May.
"""
TEA, CATS = "Ana likes green tea a lot.", "Ana has 2 cats and a dog."
GOOD: list[dict[str, Any]] = [
    {"facts": [1, 2], "text": TEA},
    {"facts": [3], "text": "Ana does not eat meat."},
    {"facts": [4, 5], "text": CATS},
    {"facts": [6], "text": "Ana plans to move to Oslo in May."},
]
SHORTER = TEXT.replace("- Ana likes green tea.\n", "").replace("* Ana has 2 cats.\n", "")


def memory(text: str = TEXT, user: str = "ana") -> None:
    """Write MEMORY.md as a person does."""
    folder_of(user).create()
    folder_of(user).path.joinpath("MEMORY.md").write_bytes(text.encode())


def written(user: str = "ana") -> str:
    """Return MEMORY.md."""
    return (folder_of(user).read(MAIN) or b"").decode()


def settings_of(user: str = "ana", **values: Any) -> None:
    """Write the settings of a user."""
    folder_of(user).create()
    folder_of(user).path.joinpath("memory-config.json").write_text(json.dumps(values))


def answer(*items: dict[str, Any], dropped: list[dict[str, Any]] | None = None) -> str:
    """Return the answer of a model."""
    return json.dumps({"items": items or GOOD, "dropped": dropped or []})


def script(*turns: Turn, model: str = MODEL) -> ScriptedChat:
    """Return a model that answers these."""
    return ScriptedChat(turns, name="own", model=model)


def run(*turns: Turn, user: str = "ana", **options: Any) -> Compaction:
    """Ask for a compaction and run it with a model that answers these."""
    asked = compaction_request(user, actor="key:app")
    given = {"providers": [script(*turns)], "rng": DeterministicRNG(1), "sleep": lambda seconds: None, **options}
    compaction_run(asked.uuid, **given)
    return Compaction.objects.get(pk=asked.pk)


def actions(row: Compaction) -> Iterator[tuple[str, str]]:
    """Yield what became of each fact, and the code."""
    for fact in row.facts:
        yield fact["action"], fact["code"]
