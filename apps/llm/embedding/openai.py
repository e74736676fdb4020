"""Embeddings from any server with an OpenAI-compatible /v1/embeddings."""

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import openai

from apps.llm.domain.embedder import (
    EmbeddingDimensionError,
    EmbeddingError,
    EmbeddingInputError,
    EmbeddingResponseError,
    EmbeddingSpaceId,
    EmbeddingUnavailableError,
    TextRole,
    Vectors,
    check_texts,
    normalise,
)
from apps.llm.embedding.batches import batches_in_order

OPENAI_BASE_URL = "https://api.openai.com/v1"
MAX_INPUTS = 128
# Under the 8,192 tokens that the OpenAI models read, whatever the language.
MAX_CHARS = 8_000
# Under the 300,000 tokens that OpenAI accepts in a request.
MAX_REQUEST_CHARS = 200_000
RETRIES = 3
# The endpoint refuses an empty input.
EMPTY = " "

# At DEBUG the SDK logs whole requests, and these hold memories.
logging.getLogger("openai._base_client").setLevel(logging.INFO)


class OpenAIEmbedder:
    """Asks a model server for vectors.

    base_url: where /embeddings is below, None for OpenAI itself. api_key: None when the server needs none.
    dimension: the length of the model's vectors. timeout_seconds: for each try. Connection failures,
    timeouts, 408, 409, 429 and 5xx are tried again up to `retries` times, with exponential backoff or after
    the time that the server names. A text counts up to its 8,000th character.
    """

    def __init__(
        self,
        *,
        base_url: str | None,
        api_key: str | None,
        model: str,
        dimension: int,
        timeout_seconds: float,
        retries: int = RETRIES,
        max_inputs: int = MAX_INPUTS,
    ) -> None:
        self.space = EmbeddingSpaceId(model, dimension)
        self._max_inputs = max_inputs
        self._client = openai.OpenAI(
            base_url=base_url or OPENAI_BASE_URL,
            api_key=api_key or "none",
            timeout=timeout_seconds,
            max_retries=retries,
        )

    def embed(self, texts: Sequence[str], role: TextRole = TextRole.PASSAGE) -> Vectors:
        """See `Embedder.embed`."""
        inputs = [text[:MAX_CHARS] if text.strip() else EMPTY for text in check_texts(texts)]
        vectors = np.empty((len(inputs), self.space.dimension), dtype=np.float32)
        lengths = [len(text) for text in inputs]
        for part in batches_in_order(lengths, most=self._max_inputs, budget=MAX_REQUEST_CHARS):
            vectors[part] = self.request(inputs[part])
        return vectors

    def known_share(self, text: str) -> float:
        """Return 1: the server does not say."""
        return 1.0

    def request(self, inputs: list[str]) -> Vectors:
        """Return the vectors of one request. Raises EmbeddingError."""
        try:
            answer = self._client.embeddings.create(model=self.space.model, input=inputs, encoding_format="float")
        except openai.OpenAIError as error:
            raise translate_error(error) from None
        except (ValueError, TypeError) as error:
            # What the SDK raises depends on how far it got with the answer. Not chained: it may quote it.
            raise EmbeddingResponseError(
                f"The embedding server's answer cannot be read ({type(error).__name__})."
            ) from None
        return normalise(parse_rows(answer, len(inputs), self.space.dimension))


def translate_error(error: openai.OpenAIError) -> EmbeddingError:
    """Return our error for the SDK's. The server's own words are left out: they may repeat texts or the key."""
    match error:
        case openai.APITimeoutError():
            return EmbeddingUnavailableError("The embedding server did not answer in time.", retryable=True)
        case openai.APIResponseValidationError():
            return EmbeddingResponseError("The embedding server's answer cannot be read.")
        case openai.APIConnectionError():
            return EmbeddingUnavailableError("The embedding server cannot be reached.", retryable=True)
        case openai.APIStatusError(status_code=400 | 413 | 422 as status):
            return EmbeddingInputError(f"The embedding server refused the texts (HTTP {status}).")
        case openai.APIStatusError(status_code=401 | 403 as status):
            return EmbeddingUnavailableError(
                f"The embedding server refused the key (HTTP {status}): check MEMORYHUB_EMBEDDING_API_KEY.",
                retryable=False,
            )
        case openai.APIStatusError(status_code=404):
            return EmbeddingUnavailableError(
                "The embedding server knows no such address or model (HTTP 404): check "
                "MEMORYHUB_EMBEDDING_BASE_URL and MEMORYHUB_EMBEDDING_MODEL.",
                retryable=False,
            )
        case openai.APIStatusError(status_code=status):
            retryable = status in {408, 409, 429} or status >= 500
            return EmbeddingUnavailableError(f"The embedding server answered HTTP {status}.", retryable=retryable)
        case _:
            return EmbeddingUnavailableError(f"The embedding request failed ({type(error).__name__}).", retryable=False)


def parse_rows(answer: Any, count: int, dimension: int) -> list[list[float]]:
    """Return the embeddings in the order of the inputs, whatever order they came in. Raises EmbeddingResponseError."""
    items = getattr(answer, "data", None)
    if not isinstance(items, list) or len(items) != count:
        received = len(items) if isinstance(items, list) else "no"
        raise EmbeddingResponseError(f"The embedding server sent {received} vectors for {count} texts.")
    by_index = {getattr(item, "index", None): getattr(item, "embedding", None) for item in items}
    if set(by_index) != set(range(count)):
        raise EmbeddingResponseError("The embedding server's answer does not say which vector belongs to which text.")
    rows: list[Any] = [by_index[index] for index in range(count)]
    for row in rows:
        if not isinstance(row, list) or not all(isinstance(value, int | float) for value in row):
            raise EmbeddingResponseError("The embedding server sent a vector that is not a list of numbers.")
        if len(row) != dimension:
            raise EmbeddingDimensionError(dimension, len(row))
    return rows
