"""Where no embedder is configured, the hub keeps the one by which it has its vectors."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from apps.llm.domain.embedder import EmbeddingSpaceId
from apps.llm.embedding.e5.embedder import E5Embedder
from apps.llm.embedding.embedder import get_embedder, reset_embedder
from apps.llm.embedding.minilm.embedder import MiniLMEmbedder
from apps.llm.selectors import active_space
from apps.llm.services import EmbeddingSpaceMismatchError, configured_space, space_activate, space_get_or_create

pytestmark = pytest.mark.django_db

E5 = E5Embedder(1).space
INT8, FLOAT32 = (EmbeddingSpaceId(f"all-MiniLM-L6-v2/{precision}", 384) for precision in ("int8", "float32"))
ASK = "import django; django.setup(); from apps.llm.embedding.embedder import get_embedder; print(get_embedder().space)"


@pytest.fixture(autouse=True)
def nothing_configured(settings) -> None:
    config = settings.MEMORYHUB
    settings.MEMORYHUB = replace(config, embedding=replace(config.embedding, embedder="auto"))
    reset_embedder()


def activate(space: EmbeddingSpaceId) -> None:
    space_activate(space=space_get_or_create(space))


def test_new_hub_reads_many_languages() -> None:
    assert isinstance(get_embedder(), E5Embedder)
    assert configured_space().space_id == E5


@pytest.mark.parametrize("space", [INT8, FLOAT32], ids=str)
def test_hub_with_vectors_of_minilm_keeps_it(space: EmbeddingSpaceId) -> None:
    activate(space)
    assert isinstance(get_embedder(), MiniLMEmbedder)
    assert configured_space().space_id == space


def test_hub_with_vectors_of_e5_keeps_it() -> None:
    activate(E5)
    assert configured_space().space_id == E5


def test_vectors_of_a_configured_server_are_not_replaced_unasked() -> None:
    activate(EmbeddingSpaceId("text-embedding-3-small", 1536))
    with pytest.raises(EmbeddingSpaceMismatchError, match="text-embedding-3-small"):
        configured_space()
    assert active_space().space_id.model == "text-embedding-3-small"


def test_process_follows_when_the_hub_has_changed_its_embedder() -> None:
    activate(INT8)
    assert configured_space().space_id == INT8
    activate(E5)
    assert configured_space().space_id == E5
    assert isinstance(get_embedder(), E5Embedder)


def test_configured_embedder_is_not_left(settings) -> None:
    config = settings.MEMORYHUB
    settings.MEMORYHUB = replace(config, embedding=replace(config.embedding, embedder="e5"))
    activate(INT8)
    with pytest.raises(EmbeddingSpaceMismatchError):
        configured_space()


def test_database_that_does_not_answer_is_a_reason_to_try_again(tmp_path: Path) -> None:
    """The process has a database of which nobody is the server."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMORYHUB_")}
    environment |= {"MEMORYHUB_DATA_DIR": str(tmp_path), "DATABASE_URL": "postgresql://memoryhub@127.0.0.1:9/none"}
    said = subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=False)
    assert "EmbeddingUnavailableError: The database does not say which embedder the hub has" in said.stderr
