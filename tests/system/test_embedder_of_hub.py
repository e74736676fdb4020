"""A hub keeps the embedder by which it has its vectors, until it is told to take another one."""

from pathlib import Path
from urllib.parse import quote

import pytest
from django.conf import settings

from memoryhub.postgres.server import EmbeddedDatabase
from tests.system.hub import Hub

MEMORIES = '{"user_id": "ana", "content": "Ana lives in Lisbon."}\n{"user_id": "ana", "content": "Ana 對花生過敏。"}\n'
ROWS = "SELECT e.id, s.model FROM semantic_memoryembedding e JOIN llm_embeddingspace s ON s.id = e.space_id ORDER BY 1"
# As the hub is configured where nobody sets anything (`test_config.py`).
UNSET = {"MEMORYHUB_EMBEDDER": "auto"}


@pytest.fixture
def hub(make_place, worker_id, django_db_setup):
    """A place for commands on an empty database of a server that was there before."""
    server, name = EmbeddedDatabase(settings.MEMORYHUB.data_dir), f"embedder_{worker_id}"
    with server.connect(dbname="postgres", user="postgres") as connection:
        connection.execute(f"CREATE DATABASE {name} OWNER memoryhub")
    host = quote(settings.DATABASES["default"]["HOST"], safe="")
    hub = Hub(make_place() / "hub", DATABASE_URL=f"postgresql://memoryhub@{host}/{name}")
    hub.execute = lambda statement: server.connect(dbname=name, user="postgres").execute(statement)
    hub.rows = lambda: list(hub.execute(ROWS))
    yield hub
    with server.connect(dbname="postgres", user="postgres") as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def run(hub: Hub, *arguments: str, **environment: str) -> str:
    said = hub.command(*arguments, **environment)
    assert said.returncode == 0, said.stderr
    return said.stdout


def save(hub: Hub, place: Path, **environment: str) -> None:
    (place / "memories.jsonl").write_text(MEMORIES)
    run(hub, "import_memories", str(place / "memories.jsonl"), **environment)


def test_hub_of_minilm_keeps_its_vectors_until_it_is_told_otherwise(hub, tmp_path):
    """Before e5 was the default, MiniLM was what every hub had that configured nothing."""
    run(hub, "prepare", MEMORYHUB_EMBEDDER="minilm")
    save(hub, tmp_path, MEMORYHUB_EMBEDDER="minilm")
    before = hub.rows()
    assert [model for _, model in before] == ["all-MiniLM-L6-v2/int8"] * 2

    run(hub, "prepare", **UNSET)
    save(hub, tmp_path, **UNSET)
    assert hub.rows() == before

    said = run(hub, "reembed", "--embedder", "e5", **UNSET)
    assert "2 vectors computed by multilingual-e5-small" in said
    run(hub, "prepare", **UNSET)
    assert [model for _, model in hub.rows()] == ["multilingual-e5-small/2"] * 2


def test_vectors_of_an_earlier_version_of_the_model_are_made_anew_at_the_start(hub, tmp_path):
    run(hub, "prepare", **UNSET)
    save(hub, tmp_path, **UNSET)
    before = hub.rows()
    hub.execute("UPDATE llm_embeddingspace SET model = 'multilingual-e5-small/1'")
    said = hub.command("prepare", **UNSET)
    assert said.returncode == 0, said.stderr
    assert "Embedding: 2/2" in said.stdout + said.stderr
    after = hub.rows()
    assert [model for _, model in after] == ["multilingual-e5-small/2"] * 2
    assert not {row for row, _ in before} & {row for row, _ in after}
    assert "anew" not in run(hub, "prepare", **UNSET)


def test_new_hub_saves_vectors_of_e5_and_needs_no_other_model(hub, tmp_path):
    run(hub, "prepare", **UNSET)
    save(hub, tmp_path, **UNSET)
    assert [model for _, model in hub.rows()] == ["multilingual-e5-small/2"] * 2
    assert not (hub.data_dir / "models").exists()
    refused = hub.command("prepare", MEMORYHUB_EMBEDDER="minilm")
    assert refused.returncode
    assert "manage.py reembed" in refused.stderr + refused.stdout
