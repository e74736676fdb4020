from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.llm.embedding.embedder import reset_embedder
from apps.llm.embedding.minilm.embedder import MiniLMEmbedder
from apps.llm.embedding.minilm.source import Precision


@pytest.fixture(autouse=True)
def fresh_embedder() -> Iterator[None]:
    reset_embedder()
    yield
    reset_embedder()


@pytest.fixture(scope="session")
def models_dir(tmp_path_factory) -> Path:
    """Built at the first use; tests that damage files use a directory of their own."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def int8(models_dir) -> MiniLMEmbedder:
    return MiniLMEmbedder(models_dir, Precision.INT8, threads=2)


@pytest.fixture(scope="session")
def float32(models_dir) -> MiniLMEmbedder:
    return MiniLMEmbedder(models_dir, Precision.FLOAT32, threads=2)
