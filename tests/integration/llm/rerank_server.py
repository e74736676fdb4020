"""A real HTTP server that stands in for rerankers, in each of their formats."""

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from apps.llm.providers.reranker import Reranker, configured_reranker, reset_reranker
from memoryhub.config.rerank import RerankConfig

Answer = tuple[int, bytes]
KEY = "key-of-the-reranker"


def score_of(question: str, text: str) -> float:
    """Return how many words of the question a text has, and a little for its length, so that texts differ."""
    words = set(question.lower().rstrip("?").split())
    return len(words & set(text.lower().rstrip(".").split())) + len(text) / 1_000


def right_answer(body: dict[str, Any]) -> Any:
    """Return what a server says that works: the best text first, in the format in which it was asked."""
    texts = body.get("documents") or body["texts"]
    scored = sorted(((score_of(body["query"], text), place) for place, text in enumerate(texts)), reverse=True)
    if "texts" in body:
        return [{"index": place, "score": score} for score, place in scored]
    results = [{"index": place, "relevance_score": score} for score, place in scored]
    return {"model": body.get("model"), "results": results, "usage": {"total_tokens": 9}}


@dataclass
class RerankServer:
    """respond: to each request, by its body; a right answer where it is None. delay: seconds before an answer."""

    url: str
    respond: Callable[[dict[str, Any]], Answer] | None = None
    delay: float = 0.0
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def say(self, answer: Any, status: int = 200) -> None:
        """Answer every request with this, as JSON unless it is bytes."""
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.respond = lambda _: (status, content)

    def score(self, scores: list[Any], name: str = "relevance_score") -> None:
        """Answer every request with these scores, in the order of the texts."""
        self.say({"results": [{"index": place, name: one} for place, one in enumerate(scores)]})


@contextmanager
def running_rerank_server() -> Iterator[RerankServer]:
    http = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    http.daemon_threads = True
    server = RerankServer(f"http://127.0.0.1:{http.server_port}/v1/rerank")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.requests.append(body | {"path": self.path})
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            time.sleep(server.delay)
            status, content = server.respond(body) if server.respond else (200, json.dumps(right_answer(body)).encode())
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Say nothing in the test's output."""

        def handle(self) -> None:
            # The client hangs up where it need not read on.
            with contextlib.suppress(ConnectionError):
                super().handle()

    http.RequestHandlerClass = Handler
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


@contextmanager
def configured_server(settings: Any, server: RerankServer, **changes: Any) -> Iterator[Reranker]:
    """Have the hub ask this server."""
    config = RerankConfig(server.url, KEY, "a-reranker", "documents", 20, 5.0, 1_000)
    settings.MEMORYHUB = replace(settings.MEMORYHUB, rerank=replace(config, **changes))
    reset_reranker()
    reranker = configured_reranker()
    assert reranker is not None
    try:
        yield reranker
    finally:
        reranker.close()
        reset_reranker()
