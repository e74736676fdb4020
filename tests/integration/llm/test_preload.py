"""Models that are opened before a fork are in memory once (apps/llm/preload.py)."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import psutil
import pytest

from apps.llm.embedding import local
from apps.llm.embedding.e5.embedder import E5Embedder
from apps.llm.embedding.minilm.preparation import model_path
from apps.llm.embedding.minilm.source import Precision
from apps.llm.pair_judge.judge import PairJudge, get_pair_judge
from apps.llm.preload import has_e5, models_preload

PAIR = ("Ana lives in Lisbon.", "Ana has moved to Porto.")
TEXT = "a cat sleeps on the sill"
MB = 2**20


@pytest.fixture
def choose(settings, monkeypatch, tmp_path):
    """Set what the hub uses, and begin without any model: `choose(embedder="e5", pair_judge=True)`."""
    settings.MODELS_DIR = tmp_path
    monkeypatch.setattr(local, "_SHARED", {})
    get_pair_judge.cache_clear()

    def change(embedder: str, *, pair_judge: bool = True) -> None:
        config = settings.MEMORYHUB
        embedding = replace(config.embedding, embedder=embedder)
        settings.MEMORYHUB = replace(config, embedding=embedding, pair_judge=pair_judge)

    yield change
    get_pair_judge.cache_clear()


def in_child(work) -> object:
    """Return what work returns in a forked process."""
    reading, writing = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            os.write(writing, json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    assert os.waitpid(pid, 0)[1] == 0
    return json.loads(text)


def test_forked_processes_use_what_was_opened_and_take_little_memory(choose):
    choose("auto")
    models_preload()

    def work():
        before = psutil.Process().memory_full_info().uss
        vector = E5Embedder(2).embed([TEXT])[0].tolist()
        answer = list(get_pair_judge().read([PAIR])[0])
        return vector, answer, psutil.Process().memory_full_info().uss - before

    vector, answer, grown = in_child(work)
    # Each of the two takes 60 MB and more where it is opened anew.
    assert grown < 30 * MB
    local._SHARED.clear()
    np.testing.assert_allclose(vector, E5Embedder(2).embed([TEXT])[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(answer, PairJudge().read([PAIR])[0], rtol=1e-4, atol=1e-6)


def test_forked_process_has_threads_of_its_own(choose):
    choose("auto")
    models_preload()
    pairs = [("Ana lives in Lisbon. " * number, "Ana has moved to Porto. " * number) for number in range(1, 9)]
    judge, embedder = PairJudge(threads=2), E5Embedder(2)
    texts = [older for older, _ in pairs] * 20
    # The threads of this process run by then: those of a child would be taken for running, too.
    answers, vectors = judge.read(pairs), embedder.embed(texts)

    def work():
        signal.alarm(60)
        return [list(answer) for answer in judge.read(pairs)], embedder.embed(texts).tolist()

    of_child = in_child(work)
    np.testing.assert_allclose(of_child[0], answers, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(of_child[1], vectors, rtol=1e-5, atol=1e-6)


def test_what_the_hub_does_not_use_is_not_opened(choose):
    choose("hashing", pair_judge=False)
    models_preload()
    assert local._SHARED == {}
    assert get_pair_judge()._runtime is None


def test_an_older_hub_with_another_model_is_told_by_its_file(choose, tmp_path):
    choose("auto")
    assert has_e5()
    model_path(tmp_path, Precision.INT8).touch()
    assert not has_e5()
    choose("e5")
    assert has_e5()


def test_what_cannot_be_opened_is_left_to_those_that_use_it(choose, monkeypatch, tmp_path):
    choose("e5")
    monkeypatch.setattr(E5Embedder.__init__, "__defaults__", (tmp_path,))
    (tmp_path / "model.json").write_text('{"name": "1", "sha256": {"encoder.onnx": ""}}')
    models_preload()
    assert local._SHARED == {}


OPENING = """
import os, django
django.setup()
from apps.llm.pair_judge.judge import get_pair_judge
get_pair_judge().load()
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted by /proc")
def test_the_library_that_runs_models_reports_nothing_to_anybody(tmp_path):
    # It keeps quiet by itself where CI is set. Numerical libraries have a thread of their own.
    environment = os.environ | {"HOME": str(tmp_path), "OPENBLAS_NUM_THREADS": "1"}
    for name in ("CI", "XDG_CACHE_HOME", "ORT_DISABLE_TELEMETRY", "GITHUB_ACTIONS"):
        environment.pop(name, None)
    done = subprocess.run([sys.executable, "-c", OPENING], env=environment, capture_output=True, text=True, check=True)
    assert int(done.stdout) == 1
    assert list(tmp_path.rglob("*icrosoft*")) == []
