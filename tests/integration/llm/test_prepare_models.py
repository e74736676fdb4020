from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.llm.embedding.minilm import source
from apps.llm.embedding.minilm.preparation import is_current, model_path
from apps.llm.embedding.minilm.source import Precision


@pytest.fixture
def minilm(settings, tmp_path):
    config = settings.MEMORYHUB
    settings.MEMORYHUB = replace(config, embedding=replace(config.embedding, embedder="minilm"))
    settings.MODELS_DIR = tmp_path / "models"
    return settings


def run(**options) -> str:
    out = StringIO()
    call_command("prepare_models", stdout=out, **options)
    return out.getvalue()


def test_the_configured_model_is_built_and_named(minilm):
    told = run()
    path = model_path(minilm.MODELS_DIR, Precision.INT8)
    assert is_current(path, Precision.INT8)
    assert str(path) in told


def test_running_it_again_changes_nothing(minilm):
    run()
    path = model_path(minilm.MODELS_DIR, Precision.INT8)
    before = path.stat()
    run()
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def test_another_precision_can_be_asked_for(minilm):
    run(precision="float32")
    assert is_current(model_path(minilm.MODELS_DIR, Precision.FLOAT32), Precision.FLOAT32)


def test_verbosity_zero_says_nothing(minilm, capfd):
    assert run(verbosity=0) == ""
    assert capfd.readouterr() == ("", "")


def test_another_embedder_has_nothing_to_prepare(settings, tmp_path):
    settings.MODELS_DIR = tmp_path / "models"
    assert "MEMORYHUB_EMBEDDER is hashing" in run()
    assert not settings.MODELS_DIR.exists()


def test_files_of_e5_come_with_the_product_and_are_checked(minilm):
    config = minilm.MEMORYHUB
    minilm.MEMORYHUB = replace(config, embedding=replace(config.embedding, embedder="e5"))
    assert "are whole" in run()
    assert not minilm.MODELS_DIR.exists()


def test_unusable_weights_end_command_with_reason(minilm, monkeypatch):
    monkeypatch.setattr(source, "WEIGHTS_SHA256", "0" * 64)
    with pytest.raises(CommandError, match="not the official file"):
        run()


def test_directory_that_cannot_be_used_ends_command_with_its_name(minilm):
    minilm.MODELS_DIR.write_text("a file, not a directory")
    with pytest.raises(CommandError, match="models cannot be used"):
        run()
