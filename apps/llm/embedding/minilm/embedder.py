"""The MiniLM embedder: tokenizer and ONNX Runtime session, loaded at the first use."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from apps.core.domain.caches import SizedCache
from apps.llm.domain.embedder import EmbeddingSpaceId, EmbeddingUnavailableError, Vectors, check_texts
from apps.llm.embedding.batches import batches_by_length
from apps.llm.embedding.minilm import source
from apps.llm.embedding.minilm.preparation import prepare
from apps.llm.embedding.minilm.source import Precision

# Reading on would only cost time: 256 tokens are about 1,200 characters.
MAX_CHARS = 32_768
# Of a longer text its beginning shows as well which share of it is known.
MAX_SHARE_CHARS = 1_000
SHARES = SizedCache("known shares of texts", megabytes=2, char_bytes=4)
UNKNOWN = "[UNK]"
# Small enough for the activations of a batch to stay in the processor's caches (docs/decisions/0005).
BATCH_TOKENS = 512


@dataclass(frozen=True)
class MiniLMRuntime:
    """A tokenizer, an ONNX Runtime session, and the threads for several batches."""

    tokenizer: Any
    session: Any
    pool: ThreadPoolExecutor


class MiniLMEmbedder:
    """all-MiniLM-L6-v2: 384 dimensions; a text counts up to its 256th token.

    models_dir: where the model file is, or will be built. threads: how many batches run at once when a call
    has several; a batch itself runs on one thread, which wastes less than sharing it out.
    """

    def __init__(self, models_dir: Path, precision: Precision, threads: int) -> None:
        self.space = EmbeddingSpaceId(f"{source.MODEL}/{precision}", source.DIMENSION)
        self._models_dir = models_dir
        self._precision = precision
        self._threads = threads
        self._lock = threading.Lock()
        self._runtime: MiniLMRuntime | None = None
        self._known_share = SHARES.remember(self._count_known)

    def load(self) -> None:
        """Load the model now rather than at the first text. Raises EmbeddingUnavailableError."""
        self.load_runtime()

    @property
    def is_loaded(self) -> bool:
        """Return whether the next text is embedded without loading anything."""
        return self._runtime is not None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        texts = check_texts(texts)
        vectors = np.empty((len(texts), source.DIMENSION), dtype=np.float32)
        if not texts:
            return vectors
        runtime = self.load_runtime()
        tokens = [runtime.tokenizer.encode(text[:MAX_CHARS]).ids for text in texts]

        def run(batch: list[int]) -> None:
            """Fill in the vectors of one batch, padded to its longest text."""
            shape = (len(batch), max(len(tokens[position]) for position in batch))
            ids, mask = np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.int32)
            for row, position in enumerate(batch):
                ids[row, : len(tokens[position])] = tokens[position]
                mask[row, : len(tokens[position])] = 1
            vectors[batch] = runtime.session.run(None, {"token_ids": ids, "mask": mask})[0]

        batches = list(batches_by_length([len(ids) for ids in tokens], BATCH_TOKENS))
        # A single batch, as every search is, need not wait for the batches of others.
        spread = map if len(batches) == 1 else runtime.pool.map
        list(spread(run, reversed(batches)))
        return vectors

    def known_share(self, text: str) -> float:
        """See `Embedder.known_share`. ASCII is made of known pieces. Raises EmbeddingUnavailableError."""
        return 1.0 if text.isascii() else self._known_share(text[:MAX_SHARE_CHARS])

    def _count_known(self, text: str) -> float:
        """Return the share of the tokens of a text that are in the vocabulary; 1 for a text without tokens."""
        tokenizer = self.load_runtime().tokenizer
        (text,) = check_texts([text])
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        return 1.0 - ids.count(tokenizer.token_to_id(UNKNOWN)) / len(ids) if ids else 1.0

    def load_runtime(self) -> MiniLMRuntime:
        """Return what computes vectors, loaded at the first use. Raises EmbeddingUnavailableError."""
        if self._runtime is None:
            with self._lock:
                if self._runtime is None:
                    try:
                        path = prepare(self._models_dir, self._precision)
                    except OSError as error:
                        raise EmbeddingUnavailableError(
                            f"The model cannot be kept in {self._models_dir}: {error.strerror}.", retryable=True
                        ) from error
                    pool = ThreadPoolExecutor(self._threads, thread_name_prefix="minilm")
                    self._runtime = MiniLMRuntime(load_tokenizer(), open_session(path), pool)
        return self._runtime


def load_tokenizer() -> Any:
    """Load the tokenizer, which cuts texts to the tokens that the model reads."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(source.tokenizer().read().decode())
    tokenizer.enable_truncation(source.MAX_TOKENS)
    tokenizer.no_padding()
    return tokenizer


def open_session(model: Path | bytes) -> Any:
    """Open a model, by its file or its content, in ONNX Runtime on one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # The graph is built as it should run: further fusions make the layer norms slower (docs/decisions/0005).
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    # Shapes differ from batch to batch, so remembering memory layouts for each only costs memory.
    options.enable_mem_pattern = False
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
