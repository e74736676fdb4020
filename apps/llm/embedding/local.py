"""What embedders on this machine have in common: an ONNX Runtime session that is loaded at the first use."""

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from apps.core.domain.caches import SizedCache
from apps.core.per_process import PerProcess
from apps.llm.domain.embedder import EmbeddingSpaceId, TextRole, Vectors, check_texts
from apps.llm.embedding.batches import batches_by_length, padded

# Reading on would only cost time: 256 tokens are about 1,200 characters.
MAX_CHARS = 32_768
# Of a longer text its beginning shows as well which share of it is known.
MAX_SHARE_CHARS = 1_000
SHARES = SizedCache("known shares of texts", megabytes=2, char_bytes=4)
# Small enough for the activations of a batch to stay in the processor's caches (docs/decisions/0005).
BATCH_TOKENS = 512
# Sessions by their file that a process opened for those that are forked from it.
_SHARED: dict[Path, Any] = {}


@dataclass(frozen=True)
class LocalRuntime:
    """An ONNX Runtime session, and the threads for several batches, which a forked process does not have."""

    session: Any
    pool: PerProcess[ThreadPoolExecutor]

    def spread(self, run: Callable[[list[int]], None], batches: Sequence[list[int]]) -> None:
        """Run batches at once, the last first. A single one, as every search is, need not wait for those of others."""
        each = map if len(batches) == 1 else self.pool.get().map
        list(each(run, reversed(batches)))


class LocalEmbedder(ABC):
    """Embeds with a model in this process.

    threads: how many batches run at once when a call has several; a batch itself runs on one thread, which wastes less
    than sharing it out.
    """

    def __init__(self, space: EmbeddingSpaceId, threads: int) -> None:
        self.space = space
        self._threads = threads
        self._lock = threading.Lock()
        self._runtime: LocalRuntime | None = None
        self._known_share = SHARES.remember(self._measure_share)

    @abstractmethod
    def open_files(self) -> Path:
        """Open what `cut` needs, and return the file of the model. Raises EmbeddingUnavailableError."""

    @abstractmethod
    def cut(self, text: str, role: TextRole) -> list[int]:
        """Return the numbers that the model reads of a text, once the files are open."""

    @abstractmethod
    def count_known(self, text: str) -> float:
        """Return the share of a text that is in the vocabulary, once the files are open; 1 for one of nothing."""

    def inputs(self, numbers: npt.NDArray[np.int32]) -> Mapping[str, npt.NDArray[Any]]:
        """Return what the model reads of texts, by its names. numbers: (texts, longest)."""
        return {"token_ids": numbers}

    def load(self) -> None:
        """Load the model now rather than at the first text. Raises EmbeddingUnavailableError."""
        self.load_runtime()

    @property
    def is_loaded(self) -> bool:
        """Return whether the next text is embedded without loading anything."""
        return self._runtime is not None

    def embed(self, texts: Sequence[str], role: TextRole = TextRole.PASSAGE) -> Vectors:
        """See `Embedder.embed`."""
        texts = check_texts(texts)
        vectors = np.empty((len(texts), self.space.dimension), dtype=np.float32)
        if not texts:
            return vectors
        runtime = self.load_runtime()
        tokens = [self.cut(text[:MAX_CHARS], role) for text in texts]

        def run(batch: list[int]) -> None:
            """Fill in the vectors of one batch, padded to its longest text."""
            rows = [tokens[position] for position in batch]
            mask = padded([[1] * len(row) for row in rows])
            vectors[batch] = runtime.session.run(None, {**self.inputs(padded(rows)), "mask": mask})[0]

        runtime.spread(run, list(batches_by_length([len(ids) for ids in tokens], BATCH_TOKENS)))
        return vectors

    def known_share(self, text: str) -> float:
        """See `Embedder.known_share`. ASCII is made of known pieces. Raises EmbeddingUnavailableError."""
        return 1.0 if text.isascii() else self._known_share(text[:MAX_SHARE_CHARS])

    def _measure_share(self, text: str) -> float:
        """Return the share of a text that is known. Raises EmbeddingInputError."""
        self.load_runtime()
        (text,) = check_texts([text])
        return self.count_known(text)

    def load_runtime(self) -> LocalRuntime:
        """Return what computes vectors, loaded at the first use. Raises EmbeddingUnavailableError."""
        if self._runtime is None:
            with self._lock:
                if self._runtime is None:
                    self._runtime = open_runtime(self.open_files(), self._threads, "embedder")
        return self._runtime


def open_runtime(model: Path, threads: int, name: str) -> LocalRuntime:
    """Open the file of a model, and make threads of a name, which start when they are needed."""
    make = partial(ThreadPoolExecutor, threads, thread_name_prefix=name)
    return LocalRuntime(open_session(model), PerProcess(make))


def open_session(model: Path) -> Any:
    """Open the file of a model in ONNX Runtime on one thread. A session of bytes would keep them: 30 MB for each."""
    if model in _SHARED:
        return _SHARED[model]
    # It would note how it is used, in a file and a thread of its own, and tell Microsoft.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
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


def share_session(model: Path) -> None:
    """Open the file of a model for the processes that are forked from this one, which have it in memory once.

    A session on one thread has no thread of its own, and so goes on in them.
    """
    _SHARED[model] = open_session(model)
