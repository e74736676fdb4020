"""A real git server over HTTP (`git http-backend`), and servers that behave badly."""

import base64
import contextlib
import os
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

USER, PASSWORD = "ana", "s3cret-of-ana"
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed: it is the server here")
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_HTTP_EXPORT_ALL": "1",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
}


class GitHandler(BaseHTTPRequestHandler):
    """Answers below /open and, with the password, /closed; /hang and /drip send too little, /moved redirects, and so
    does /closed-moved with the password."""

    protocol_version = "HTTP/1.1"
    root: Path
    elsewhere: str
    ended: threading.Event
    # Of each request the path, and what proves who asks.
    asked: list[tuple[str, str]]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Write nothing."""

    def do_GET(self) -> None:
        """Answer."""
        body = self._body()
        self.asked.append((self.path, self.headers.get("Authorization", "")))
        kind, _, path = self.path[1:].partition("/")
        expected = f"Basic {base64.b64encode(f'{USER}:{PASSWORD}'.encode()).decode()}"
        if kind == "hang":
            self.ended.wait(20)
        elif kind == "drip":
            self._drip()
        elif kind == "moved":
            self._answer(301, {"Location": f"{self.elsewhere}/open/{path}"})
        elif kind.startswith("closed") and self.headers.get("Authorization") != expected:
            self._answer(401, {"WWW-Authenticate": 'Basic realm="knowledge"'})
        elif kind == "closed-moved":
            self._answer(307, {"Location": f"{self.elsewhere}/open/{path}"})
        else:
            self._git(f"/{path}", body)

    do_POST = do_GET  # noqa: N815

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        data = b""
        while size := int(self.rfile.readline(), 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def _drip(self) -> None:
        with contextlib.suppress(OSError):
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while not self.ended.wait(0.05):
                self.wfile.write(b"a")
                self.wfile.flush()

    def _git(self, path: str, body: bytes) -> None:
        path, _, query = path.partition("?")
        environment = {
            **ENVIRONMENT,
            "GIT_PROJECT_ROOT": str(self.root),
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }
        done = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True, check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        self._answer(int(headers.pop("Status", "200").split()[0]), headers, content)

    def _answer(self, status: int, headers: dict[str, str], content: bytes = b"") -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


@contextlib.contextmanager
def git_server(
    root: Path, certificate: Path | None = None, elsewhere: str = "", asked: list[tuple[str, str]] | None = None
) -> Iterator[str]:
    """Serve the repositories below a folder; return the address."""
    values = {"root": root, "elsewhere": elsewhere, "ended": threading.Event(), "asked": [] if asked is None else asked}
    handler = type("Handler", (GitHandler,), values)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    scheme = "http"
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"{scheme}://127.0.0.1:{server.server_port}"
    finally:
        handler.ended.set()  # type: ignore[attr-defined]
        server.shutdown()
        server.server_close()
        thread.join()
