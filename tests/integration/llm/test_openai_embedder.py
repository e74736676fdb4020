import logging
import socket
import time
from collections.abc import Iterator

import numpy as np
import pytest

from apps.llm.domain.embedder import (
    EmbeddingDimensionError,
    EmbeddingInputError,
    EmbeddingResponseError,
    EmbeddingUnavailableError,
)
from apps.llm.embedding.openai import OpenAIEmbedder
from tests.integration.llm.model_server import DIMENSION, ModelServer, embeddings, running_server, vector_of


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with running_server() as server:
        yield server


def embedder(server: ModelServer, **changes) -> OpenAIEmbedder:
    settings = {
        "base_url": server.url,
        "api_key": "sk-secret",
        "model": "some-model",
        "dimension": DIMENSION,
        "timeout_seconds": 5.0,
        "retries": 2,
    }
    return OpenAIEmbedder(**(settings | changes))


def unit_vectors(texts: list[str]) -> np.ndarray:
    wide = np.array([vector_of(text) for text in texts])
    return wide / np.linalg.norm(wide, axis=1, keepdims=True)


def test_vectors_come_back_at_length_one_in_order_of_texts(server):
    texts = ["banana", "kiwi", "aa"]
    vectors = embedder(server).embed(texts)
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, unit_vectors(texts))


def test_request_names_model_key_and_plain_numbers(server):
    embedder(server).embed(["banana"])
    [request] = server.requests
    assert request["path"] == "/v1/embeddings"
    assert (request["model"], request["encoding_format"]) == ("some-model", "float")
    assert server.headers[0]["authorization"] == "Bearer sk-secret"


def test_server_that_asks_for_no_key_is_asked_without_one_of_ours(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    embedder(server, api_key=None).embed(["banana"])
    assert "sk-" not in server.headers[0]["authorization"]


def test_vectors_are_put_in_order_by_their_index(server):
    answer = embeddings(["banana", "kiwi"])
    answer["data"].reverse()
    server.say(answer)
    vectors = embedder(server).embed(["banana", "kiwi"])
    assert np.allclose(vectors, unit_vectors(["banana", "kiwi"]))


def test_many_texts_are_asked_for_in_several_requests(server):
    texts = ["a" * number for number in range(1, 8)]
    vectors = embedder(server, max_inputs=3).embed(texts)
    assert [len(request["input"]) for request in server.requests] == [3, 3, 1]
    assert np.allclose(vectors, unit_vectors(texts))


def test_request_stays_under_servers_limit_of_text(server):
    embedder(server).embed(["b" * 8_000] * 60)
    assert [len(request["input"]) for request in server.requests] == [25, 25, 10]


def test_no_texts_ask_nothing(server):
    assert embedder(server).embed([]).shape == (0, DIMENSION)
    assert not server.requests


def test_long_text_is_cut_and_empty_one_is_sent_as_space(server):
    embedder(server).embed(["c" * 9_000, "", "\n "])
    assert [len(text) for text in server.requests[0]["input"]] == [8_000, 1, 1]
    assert server.requests[0]["input"][1:] == [" ", " "]


def test_server_that_fails_twice_is_asked_third_time(server):
    server.fail(500, times=2)
    server.work()
    assert embedder(server).embed(["banana"]).shape == (1, DIMENSION)
    assert len(server.requests) == 3


def test_retries_wait_longer_and_end(server):
    server.fail(503)
    began = time.monotonic()
    with pytest.raises(EmbeddingUnavailableError, match="HTTP 503") as caught:
        embedder(server).embed(["banana"])
    assert caught.value.retryable
    assert len(server.requests) == 3
    # Half a second and a second, each shortened by at most a quarter.
    assert time.monotonic() - began > 1.0


def test_a_busy_server_is_an_error_that_passes(server):
    server.fail(429)
    with pytest.raises(EmbeddingUnavailableError) as caught:
        embedder(server, retries=0).embed(["banana"])
    assert caught.value.retryable


def test_a_server_that_stalls_is_given_up(server):
    server.stall(2.0)
    began = time.monotonic()
    with pytest.raises(EmbeddingUnavailableError, match="in time") as caught:
        embedder(server, timeout_seconds=0.2, retries=0).embed(["banana"])
    assert caught.value.retryable
    assert time.monotonic() - began < 1.5


def test_a_stall_is_tried_again(server):
    server.stall(1.0)
    server.work()
    vectors = embedder(server, timeout_seconds=0.3, retries=1).embed(["banana"])
    assert np.allclose(vectors, unit_vectors(["banana"]))


def test_server_that_is_not_there_is_error_that_passes():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = ModelServer(f"http://127.0.0.1:{free.getsockname()[1]}/v1")
    with pytest.raises(EmbeddingUnavailableError, match="cannot be reached") as caught:
        embedder(nobody, retries=0).embed(["banana"])
    assert caught.value.retryable


@pytest.mark.parametrize(
    ("status", "setting"),
    [(401, "EMBEDDING_API_KEY"), (403, "EMBEDDING_API_KEY"), (404, "EMBEDDING_BASE_URL")],
)
def test_refusal_names_setting_to_check_and_is_not_tried_again(server, status, setting):
    server.fail(status)
    with pytest.raises(EmbeddingUnavailableError, match=setting) as caught:
        embedder(server).embed(["banana"])
    assert not caught.value.retryable
    assert len(server.requests) == 1


def test_texts_that_server_refuses_are_texts_fault(server):
    server.fail(400)
    with pytest.raises(EmbeddingInputError, match="HTTP 400"):
        embedder(server).embed(["banana"])


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_servers_own_words_reach_neither_error_nor_its_causes(server, status):
    server.fail(status)
    with pytest.raises(Exception, match="embedding server") as caught:
        embedder(server, retries=0).embed(["banana"])
    assert "diary" not in str(caught.value)
    assert "sk-secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_another_dimension_is_refused_with_both_numbers(server):
    with pytest.raises(EmbeddingDimensionError, match="4 dimensions; 8 are configured"):
        embedder(server, dimension=8).embed(["banana"])


@pytest.mark.parametrize("change", [lambda data: data[:1], lambda data: data * 2, lambda _: []])
def test_another_number_of_vectors_is_refused(server, change):
    answer = embeddings(["banana", "kiwi"])
    server.say(answer | {"data": change(answer["data"])})
    with pytest.raises(EmbeddingResponseError):
        embedder(server).embed(["banana", "kiwi"])


@pytest.mark.parametrize("indexes", [(0, 0), (1, 2), (None, None), ("0", "1")])
def test_indexes_that_do_not_name_every_text_once_are_refused(server, indexes):
    answer = embeddings(["banana", "kiwi"])
    for item, index in zip(answer["data"], indexes, strict=True):
        item["index"] = index
    server.say(answer)
    with pytest.raises(EmbeddingResponseError, match="which vector belongs"):
        embedder(server).embed(["banana", "kiwi"])


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1e400])
def test_a_number_that_is_not_finite_is_refused(server, number):
    answer = embeddings(["banana"])
    answer["data"][0]["embedding"][2] = number
    server.say(answer)
    with pytest.raises(EmbeddingResponseError, match="not finite"):
        embedder(server).embed(["banana"])


@pytest.mark.parametrize("vector", [None, "text", {}, [1, 2, 3, "4"], [1, 2, 3, None], [[1]] * 4])
def test_vector_that_is_no_list_of_numbers_is_refused(server, vector):
    answer = embeddings(["banana"])
    answer["data"][0]["embedding"] = vector
    server.say(answer)
    with pytest.raises(EmbeddingResponseError):
        embedder(server).embed(["banana"])


def test_a_vector_of_zeros_is_refused(server):
    answer = embeddings(["banana"])
    answer["data"][0]["embedding"] = [0, 0, 0, 0]
    server.say(answer)
    with pytest.raises(EmbeddingResponseError, match="all zeros"):
        embedder(server).embed(["banana"])


@pytest.mark.parametrize(
    "body", [b"", b"{", b"<html>busy</html>", b"[]", b"null", b"7", b'{"data": null}', b'{"data": 3}', b"\xff\xfe"]
)
def test_an_answer_that_is_no_answer_is_refused(server, body):
    server.say(body)
    with pytest.raises(EmbeddingResponseError):
        embedder(server, retries=0).embed(["banana"])


def test_neither_texts_nor_key_are_logged_even_at_debug(server, caplog):
    with caplog.at_level(logging.DEBUG):
        embedder(server).embed(["my diary"])
        server.fail(500)
        with pytest.raises(EmbeddingUnavailableError):
            embedder(server, retries=1).embed(["my diary"])
    assert "diary" not in caplog.text
    assert "sk-secret" not in caplog.text


def test_lone_surrogate_is_refused_before_anything_is_sent(server):
    with pytest.raises(EmbeddingInputError):
        embedder(server).embed(["\ud83d"])
    assert not server.requests
