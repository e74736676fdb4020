"""The environment variables of the reranker, a part of `memoryhub.config.hub`."""

from dataclasses import dataclass, field

from django.core.exceptions import ImproperlyConfigured
from environs import Env, validate

from apps.llm.domain.rerank import RerankFormat
from memoryhub.config.chat import read_base_url, read_seconds, read_server_key


@dataclass(frozen=True)
class RerankConfig:
    """A server that puts the first hits of a search into a better order.

    url: the whole address that is posted to. model: empty where the server has only one. format: what the texts are
    called in a request. count: of hits that are sent. max_chars: of each of them.
    """

    url: str
    api_key: str | None = field(repr=False)
    model: str
    format: str
    count: int
    timeout_seconds: float
    max_chars: int


def read_rerank_config(env: Env) -> RerankConfig | None:
    """Read the reranker; None where no address is set. Raises ImproperlyConfigured or EnvError."""
    url = read_base_url(env, "MEMORYHUB_RERANK_URL", like="http://127.0.0.1:8080/v1/rerank")
    if url is None:
        if env.str("MEMORYHUB_RERANK_MODEL", ""):
            raise ImproperlyConfigured("MEMORYHUB_RERANK_MODEL needs MEMORYHUB_RERANK_URL, the address of its server.")
        return None
    return RerankConfig(
        url=url,
        api_key=read_server_key(env, "MEMORYHUB_RERANK_API_KEY"),
        model=env.str("MEMORYHUB_RERANK_MODEL", "", validate=validate.Length(max=200)).strip(),
        format=env.str(
            "MEMORYHUB_RERANK_FORMAT", RerankFormat.DOCUMENTS.value, validate=validate.OneOf(list(RerankFormat))
        ),
        count=env.int("MEMORYHUB_RERANK_COUNT", 20, validate=validate.Range(min=2, max=50)),
        timeout_seconds=read_seconds(env, "MEMORYHUB_RERANK_TIMEOUT_SECONDS", 1.0, lowest=0.05, highest=30),
        max_chars=env.int("MEMORYHUB_RERANK_MAX_CHARS", 1_000, validate=validate.Range(min=50, max=20_000)),
    )
