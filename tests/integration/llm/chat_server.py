"""A real HTTP server that stands in for chat models: OpenAI's wire format at /v1/chat/completions, Anthropic's at
/v1/messages, streamed where the request asks for it, and the list of models of either at /v1/models.

Each request gets a `Reply`, the next one of `server.replies`; the last one is given again and again.
"""

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# Longer than any test waits; a handler that stalls is released when its server stops.
FOREVER = 600.0
ANTHROPIC_FINISH = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}


@dataclass(frozen=True)
class Reply:
    """What the server does with one request.

    chunks: the answer's pieces; one that is not streamed has them together. delay: seconds before each piece.
    usage: tokens asked and answered, None to say nothing of them. finish: as OpenAI calls it, None for an answer
    without an end. status: other than 200 is an error, whose body quotes the request as real servers do. headers:
    added. body, content_type: sent as they are instead of an answer. events: whole events of a stream, sent after the
    chunks instead of its end.

    stall_after, cut_after: it sends nothing more, or hangs up, after so many chunks (the end is one more), or after
    half of an answer that is not streamed. reset: it hangs up as a process that dies does, and what the client has
    not read yet is lost. comments: seconds between the comments (or blanks) that keep a stalled answer alive.
    header_delay: seconds between the bytes of headers that never end. length: False for an answer that ends when the
    server hangs up, as with HTTP/1.0. piece: bytes of a stream that are sent at once, wherever that cuts it. models:
    what is listed where the models are asked for.
    """

    chunks: tuple[str, ...] = ("Hello", " there")
    delay: float = 0.0
    usage: tuple[int, int] | None = (7, 3)
    finish: str | None = "stop"
    model: str = "model-that-answered"
    status: int = 200
    error_type: str = "some_error"
    message: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    content_type: str | None = None
    events: tuple[str, ...] = ()
    stall_after: int | None = None
    cut_after: int | None = None
    reset: bool = False
    comments: float | None = None
    header_delay: float = 0.0
    length: bool = True
    piece: int | None = None
    models: tuple[Any, ...] = ("some-model", "another-model")


@dataclass(frozen=True)
class Received:
    """One request, with its headers in lower case. connection: the number of the connection that it came by."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    connection: int


@dataclass
class ChatServer:
    """address: without a path. replies: see `Reply`; a function gets the number of the request and the request.

    hung_up: how many answers the client did not want to the end.
    """

    address: str
    replies: list[Reply] = field(default_factory=list)
    choose: Callable[[int, Received], Reply] | None = None
    received: list[Received] = field(default_factory=list)
    hung_up: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def base_url(self, service: str) -> str:
        """What a client for `openai` or `anthropic` is told."""
        return f"{self.address}/v1" if service == "openai" else self.address

    def say(self, *replies: Reply) -> None:
        """Answer with these from now on."""
        with self.lock:
            self.replies = list(replies)

    def reply_to(self, received: Received) -> Reply:
        with self.lock:
            self.received.append(received)
            if self.choose is not None:
                return self.choose(len(self.received) - 1, received)
            if not self.replies:
                return Reply()
            return self.replies[0] if len(self.replies) == 1 else self.replies.pop(0)


class _HangUpError(Exception):
    """The server ends the connection."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 64 * 1024
    server_state: ChatServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        dialect = _Anthropic() if self.path.endswith("/messages") else _OpenAI()
        self._respond(body, dialect, dialect.whole)

    def do_GET(self) -> None:
        dialect = _Anthropic() if "anthropic-version" in self.headers else _OpenAI()
        self._respond({}, dialect, dialect.models)

    def _respond(self, body: dict[str, Any], dialect: "_Dialect", whole: Callable[[Reply], dict[str, Any]]) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        received = Received(self.path, headers, body, self.client_address[1])
        reply = self.server_state.reply_to(received)
        try:
            self._answer(reply, received, dialect, whole)
        except _HangUpError:
            self._hang_up(reply)
        except ConnectionError:
            self.server_state.hung_up += 1
            self.close_connection = True

    def _answer(
        self, reply: Reply, received: Received, dialect: "_Dialect", whole: Callable[[Reply], dict[str, Any]]
    ) -> None:
        if reply.status != 200:
            self._whole(reply, json.dumps(dialect.error(reply, received)).encode())
        elif reply.body is not None:
            self._whole(reply, reply.body)
        elif received.body.get("stream"):
            self._stream(reply, dialect)
        else:
            self._wait(reply.delay * len(reply.chunks))
            self._whole(reply, json.dumps(whole(reply)).encode())

    def _whole(self, reply: Reply, content: bytes) -> None:
        self._start(reply, "application/json", length=len(content))
        if reply.cut_after is not None:
            self._send(content[: len(content) // 2])
            raise _HangUpError
        if reply.stall_after is not None:
            self._send(content[: len(content) // 2])
            self._stall(reply, " ")
        self._send(content)

    def _stream(self, reply: Reply, dialect: "_Dialect") -> None:
        self._start(reply, "text/event-stream", length=None)
        for event in dialect.start(reply):
            self._event(reply, event)
        for number, chunk in enumerate(reply.chunks):
            self._interrupt(reply, number)
            self._wait(reply.delay)
            self._event(reply, dialect.chunk(chunk))
        self._interrupt(reply, len(reply.chunks))
        for event in reply.events or dialect.end(reply):
            self._event(reply, event)
        self._interrupt(reply, len(reply.chunks) + 1)
        if reply.length:
            self._send(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def _start(self, reply: Reply, content_type: str, length: int | None) -> None:
        self._trickle(reply)
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type or content_type)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if length is not None:
            self.send_header("Content-Length", str(length))
        elif reply.length:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if length is None:
            self.wfile.flush()

    def _trickle(self, reply: Reply) -> None:
        """Send the beginning of the headers byte by byte, and never come to an end."""
        for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"." * 10_000 if reply.header_delay else b"":
            self._send(bytes([byte]))
            self._wait(reply.header_delay)

    def _interrupt(self, reply: Reply, number: int) -> None:
        if reply.cut_after == number:
            raise _HangUpError
        if reply.stall_after == number:
            self._stall(reply, "d\r\n: still here\n\r\n" if reply.length else ": still here\n")

    def _stall(self, reply: Reply, comment: str) -> None:
        if reply.comments is None:
            self._wait(FOREVER)
            raise _HangUpError
        while True:
            self._send(comment.encode())
            self._wait(reply.comments)

    def _event(self, reply: Reply, event: str) -> None:
        content = event.encode()
        size = reply.piece or len(content)
        for start in range(0, len(content), size):
            part = content[start : start + size]
            self._send(b"%x\r\n%s\r\n" % (len(part), part) if reply.length else part)

    def _send(self, content: bytes) -> None:
        self.wfile.write(content)
        self.wfile.flush()

    def _wait(self, seconds: float) -> None:
        """Wait, until the server is to stop at most."""
        if seconds and self.server_state.stopped.wait(seconds):
            raise _HangUpError

    def _hang_up(self, reply: Reply) -> None:
        if reply.reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Say nothing in the test's output."""

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):
            super().handle()

    def finish(self) -> None:
        with contextlib.suppress(ConnectionError):
            super().finish()


class _Dialect:
    """A wire format: events of a stream, an answer in one piece, and an error."""

    def start(self, reply: Reply) -> list[str]:
        raise NotImplementedError

    def chunk(self, text: str) -> str:
        raise NotImplementedError

    def end(self, reply: Reply) -> list[str]:
        raise NotImplementedError

    def whole(self, reply: Reply) -> dict[str, Any]:
        raise NotImplementedError

    def error(self, reply: Reply, received: Received) -> dict[str, Any]:
        raise NotImplementedError

    def models(self, reply: Reply) -> dict[str, Any]:
        raise NotImplementedError


class _OpenAI(_Dialect):
    def _event(self, reply_model: str, choices: list[Any], **more: Any) -> str:
        data = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": reply_model, "choices": choices}
        return f"data: {json.dumps(data | more)}\n\n"

    def _choice(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {"index": 0, "delta": delta, "finish_reason": finish}

    def start(self, reply: Reply) -> list[str]:
        return [self._event(reply.model, [self._choice({"role": "assistant", "content": ""})])]

    def chunk(self, text: str) -> str:
        return self._event("", [self._choice({"content": text})])

    def end(self, reply: Reply) -> list[str]:
        ends = [self._event(reply.model, [self._choice({}, reply.finish)])] if reply.finish else []
        counts = [self._event(reply.model, [], usage=self._usage(reply.usage))] if reply.usage else []
        return [*ends, *counts, "data: [DONE]\n\n"]

    def _usage(self, usage: tuple[int, int]) -> dict[str, int]:
        return {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}

    def whole(self, reply: Reply) -> dict[str, Any]:
        message = {"role": "assistant", "content": "".join(reply.chunks)}
        choices = [{"index": 0, "message": message, "finish_reason": reply.finish}]
        data = {"id": "c1", "object": "chat.completion", "created": 1, "model": reply.model, "choices": choices}
        return data | ({"usage": self._usage(reply.usage)} if reply.usage else {})

    def error(self, reply: Reply, received: Received) -> dict[str, Any]:
        message = reply.message or f"Refused {received.headers.get('authorization')}: {received.body.get('messages')}"
        return {"error": {"message": message, "type": reply.error_type, "code": reply.error_type, "param": None}}

    def models(self, reply: Reply) -> dict[str, Any]:
        kind = {"object": "model", "created": 1, "owned_by": "somebody"}
        return {"object": "list", "data": [{"id": name, **kind} for name in reply.models]}


class _Anthropic(_Dialect):
    def _event(self, kind: str, **data: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind} | data)}\n\n"

    def start(self, reply: Reply) -> list[str]:
        usage = {"input_tokens": reply.usage[0], "output_tokens": 1} if reply.usage else None
        message = {"id": "m1", "type": "message", "role": "assistant", "model": reply.model, "content": []}
        return [
            self._event("message_start", message=message | ({"usage": usage} if usage else {})),
            self._event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
            self._event("ping"),
        ]

    def chunk(self, text: str) -> str:
        return self._event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})

    def end(self, reply: Reply) -> list[str]:
        if reply.finish is None:
            return [self._event("content_block_stop", index=0)]
        delta = {"stop_reason": ANTHROPIC_FINISH.get(reply.finish, reply.finish), "stop_sequence": None}
        usage = {"usage": {"output_tokens": reply.usage[1]}} if reply.usage else {}
        return [
            self._event("content_block_stop", index=0),
            self._event("message_delta", delta=delta, **usage),
            self._event("message_stop"),
        ]

    def whole(self, reply: Reply) -> dict[str, Any]:
        finish = None if reply.finish is None else ANTHROPIC_FINISH.get(reply.finish, reply.finish)
        usage = {"input_tokens": reply.usage[0], "output_tokens": reply.usage[1]} if reply.usage else None
        content = [{"type": "text", "text": chunk} for chunk in reply.chunks]
        data = {"id": "m1", "type": "message", "role": "assistant", "model": reply.model, "content": content}
        return data | {"stop_reason": finish, "stop_sequence": None} | ({"usage": usage} if usage else {})

    def error(self, reply: Reply, received: Received) -> dict[str, Any]:
        message = reply.message or f"Refused {received.headers.get('authorization')}: {received.body.get('messages')}"
        return {"type": "error", "error": {"type": reply.error_type, "message": message}}

    def models(self, reply: Reply) -> dict[str, Any]:
        kind = {"type": "model", "display_name": "Some Model", "created_at": "2026-01-01T00:00:00Z"}
        ends = {"first_id": "a", "last_id": "z", "has_more": True}
        return {"data": [{"id": name, **kind} for name in reply.models], **ends}


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # connections that may be opened at once


@contextmanager
def running_chat_server() -> Iterator[ChatServer]:
    """A server on a free port of this machine, while the context lasts."""
    handler = type("Handler", (_Handler,), {})
    http = _Http(("127.0.0.1", 0), handler)
    state = ChatServer(f"http://127.0.0.1:{http.server_port}")
    handler.server_state = state
    thread = threading.Thread(target=http.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield state
    finally:
        state.stopped.set()
        http.shutdown()
        thread.join()
        http.server_close()
