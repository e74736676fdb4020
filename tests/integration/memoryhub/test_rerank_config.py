import os

import pytest
from django.core.exceptions import ImproperlyConfigured

from memoryhub.config.hub import read_config
from memoryhub.config.rerank import RerankConfig

URL = "http://127.0.0.1:8080/v1/rerank"
KEY = "key-0123456789"


@pytest.fixture
def configure(monkeypatch):
    for name in [name for name in os.environ if name.startswith("MEMORYHUB_") or name == "DATABASE_URL"]:
        monkeypatch.delenv(name)

    def read(**variables: str) -> RerankConfig | None:
        for name, value in variables.items():
            monkeypatch.setenv(f"MEMORYHUB_RERANK_{name}", value)
        return read_config().rerank

    return read


def test_without_an_address_there_is_no_reranker(configure):
    assert configure() is None


def test_address_is_enough(configure):
    assert configure(URL=URL) == RerankConfig(URL, None, "", "documents", 20, 1.0, 1_000)


def test_everything_can_be_said(configure):
    config = configure(
        URL=URL, API_KEY=KEY, MODEL="m", FORMAT="texts", COUNT="50", TIMEOUT_SECONDS="0.3", MAX_CHARS="200"
    )
    assert config == RerankConfig(URL, KEY, "m", "texts", 50, 0.3, 200)
    assert KEY not in repr(config)


@pytest.mark.parametrize(
    "variables",
    [
        {"MODEL": "m"}, {"URL": "127.0.0.1:8080"}, {"URL": "http://name:word@127.0.0.1/rerank"},
        {"URL": URL, "FORMAT": "other"}, {"URL": URL, "COUNT": "51"}, {"URL": URL, "COUNT": "1"},
        {"URL": URL, "TIMEOUT_SECONDS": "nan"}, {"URL": URL, "TIMEOUT_SECONDS": "0"}, {"URL": URL, "MAX_CHARS": "10"},
        {"URL": URL, "API_KEY": "a key"},
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_by_its_name(configure, variables):
    with pytest.raises(ImproperlyConfigured, match="MEMORYHUB_RERANK_") as raised:
        configure(**variables)
    assert "a key" not in str(raised.value)
