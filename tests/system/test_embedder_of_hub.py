"""A hub keeps the embedder by which it has its vectors, until it is told to take another one."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memoryhub.postgres.lease import DatabaseLease
from memoryhub.postgres.server import EmbeddedDatabase
from tests.system.hub import Hub

MEMORIES = '{"user_id": "ana", "content": "Ana lives in Lisbon."}\n{"user_id": "ana", "content": "Ana 對花生過敏。"}\n'
ROWS = "SELECT e.id, s.model FROM semantic_memoryembedding e JOIN llm_embeddingspace s ON s.id = e.space_id ORDER BY 1"
# As the hub is configured where nobody sets anything (`test_config.py`).
UNSET = {"MEMORYHUB_EMBEDDER": "auto"}


@contextlib.contextmanager
def place_of_commands(place: Path) -> Iterator[Hub]:
    """Make a place for commands beside a database that runs and has nothing but its tables."""
    hub = Hub(place)
    hub.make_cluster()
    with DatabaseLease(EmbeddedDatabase(hub.data_dir, durable=False)):
        yield hub


@pytest.fixture
def hub(make_place: Callable[[], Path]) -> Iterator[Hub]:
    """One that has no vectors yet."""
    with place_of_commands(make_place() / "hub") as hub:
        yield hub


@pytest.fixture(scope="module")
def new_hub(make_place: Callable[[], Path]) -> Iterator[Hub]:
    """One in which memories were saved, and nothing was configured."""
    with place_of_commands(make_place() / "hub") as hub:
        run(hub, "prepare", **UNSET)
        save(hub, make_place(), **UNSET)
        yield hub


def rows(hub: Hub) -> list[Any]:
    with hub.database.connect() as connection:
        return connection.execute(ROWS).fetchall()


def run(hub: Hub, *arguments: str, **environment: str) -> str:
    said = hub.command(*arguments, **environment)
    assert said.returncode == 0, said.stderr
    return said.stdout


def save(hub: Hub, place: Path, **environment: str) -> None:
    (place / "memories.jsonl").write_text(MEMORIES)
    run(hub, "import_memories", str(place / "memories.jsonl"), **environment)


def test_hub_of_minilm_keeps_its_vectors_until_it_is_told_otherwise(hub: Hub, tmp_path: Path) -> None:
    """Before e5 was the default, MiniLM was what every hub had that configured nothing."""
    run(hub, "prepare", MEMORYHUB_EMBEDDER="minilm")
    save(hub, tmp_path, MEMORYHUB_EMBEDDER="minilm")
    before = rows(hub)
    assert [model for _, model in before] == ["all-MiniLM-L6-v2/int8"] * 2

    run(hub, "prepare", **UNSET)
    save(hub, tmp_path, **UNSET)
    assert rows(hub) == before

    said = run(hub, "reembed", "--embedder", "e5", **UNSET)
    assert "2 vectors computed by multilingual-e5-small" in said
    run(hub, "prepare", **UNSET)
    assert [model for _, model in rows(hub)] == ["multilingual-e5-small/2"] * 2


def test_new_hub_saves_vectors_of_e5_and_needs_no_other_model(new_hub: Hub) -> None:
    assert [model for _, model in rows(new_hub)] == ["multilingual-e5-small/2"] * 2
    assert not (new_hub.data_dir / "models").exists()
    refused = new_hub.command("prepare", MEMORYHUB_EMBEDDER="minilm")
    assert refused.returncode
    assert "manage.py reembed" in refused.stderr + refused.stdout


def test_vectors_of_an_earlier_version_of_the_model_are_made_anew_at_the_start(new_hub: Hub) -> None:
    before = rows(new_hub)
    with new_hub.database.connect() as connection:
        connection.execute("UPDATE llm_embeddingspace SET model = 'multilingual-e5-small/1'")
    said = new_hub.command("prepare", **UNSET)
    assert said.returncode == 0, said.stderr
    assert "Embedding: 2/2" in said.stdout + said.stderr
    after = rows(new_hub)
    assert [model for _, model in after] == ["multilingual-e5-small/2"] * 2
    assert not {row for row, _ in before} & {row for row, _ in after}
    assert "anew" not in run(new_hub, "prepare", **UNSET)
