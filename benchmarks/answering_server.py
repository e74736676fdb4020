"""A server that answers every question at once, in OpenAI's wire format; for `measure_gateway`.

A program of its own (`python -m benchmarks.answering_server`): in the process that measures, its work would be measured
too. It prints its address, and ends when its standard input does. It imports nothing of the hub.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ANSWER = '{"sky": "clear"}'


def _event(choices: list[Any], **more: Any) -> str:
    data = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, **more}
    return f"data: {json.dumps(data)}\n\n"


_STREAM = "".join(
    (
        _event([{"index": 0, "delta": {"role": "assistant", "content": ANSWER}, "finish_reason": None}]),
        _event([{"index": 0, "delta": {}, "finish_reason": "stop"}]),
        _event([], usage={"prompt_tokens": 12, "completion_tokens": 6, "total_tokens": 18}),
        "data: [DONE]\n\n",
    )
).encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 64 * 1024

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(_STREAM)))
        self.end_headers()
        self.wfile.write(_STREAM)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def main() -> None:
    """Serve until standard input ends."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    http.daemon_threads = True
    threading.Thread(target=http.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{http.server_port}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
