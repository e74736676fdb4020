"""Fetch from another machine: a program of its own, without Django, which is killed when it takes too long.

It reads one JSON object from its standard input and writes one to its standard output. Nothing of the secret is in its
arguments or its environment, and no libgit2 call of it can block the hub.
"""

import http.client
import json
import resource
import signal
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import HTTPErrorProcessor, Request, build_opener

import pygit2
from pygit2.enums import ConfigLevel, CredentialType
from pygit2.remotes import TransferProgress

FETCHED = "refs/memoryhub/fetched"
CONNECT_SECONDS = 20
# How long a server may send nothing.
SILENCE_SECONDS = 60
# GIT_REMOTE_REDIRECT_NONE, by which libgit2 still follows to every port of the same host.
REDIRECT_NONE = 1
PORTS = {"http": 80, "https": 443}
# Of requests that libgit2 makes, those that concern the relay alone; urllib writes its own.
OF_THE_RELAY = frozenset({"host", "connection", "content-length", "transfer-encoding", "expect"})
PASSED_ON = ("Content-Type", "WWW-Authenticate", "Cache-Control")
PIECE_BYTES = 65_536
IN_ADDRESSES = "!#$%&'()*+,/:;=?@[]~"


class TooLargeError(Exception):
    """More was sent than may be received."""


class SecretMissingError(Exception):
    """The server asks for a secret and there is none, or not one of this kind."""


class SecretRefusedError(Exception):
    """The server has refused the secret."""


class Callbacks(pygit2.RemoteCallbacks):
    """Answers of the hub to libgit2. secret: with `kind` as in source.py, or empty."""

    def __init__(self, secret: dict[str, str], user: str, max_bytes: int) -> None:
        super().__init__()
        self._secret, self._user, self._max_bytes = secret, user, max_bytes
        self._asked = 0
        self._options: Any = None

    @property
    def fetch_options(self) -> Any:
        """Return the options of libgit2 for this fetch."""
        return self._options

    @fetch_options.setter
    def fetch_options(self, options: Any) -> None:
        """Take the options that pygit2 makes, in which it has no parameter for redirections."""
        options.follow_redirects = REDIRECT_NONE
        self._options = options

    def credentials(self, url: str, username_from_url: str | None, allowed_types: CredentialType) -> Any:
        """Return the secret once; libgit2 asks again after it was refused."""
        if allowed_types == CredentialType.USERNAME:
            return pygit2.Username(self._user)
        self._asked += 1
        if self._asked > 1:
            raise SecretRefusedError
        kind = self._secret.get("kind")
        if kind == "password" and allowed_types & CredentialType.USERPASS_PLAINTEXT:
            return pygit2.UserPass(self._secret["user"], self._secret["password"])
        if kind == "key" and allowed_types & CredentialType.SSH_MEMORY:
            return pygit2.KeypairFromMemory(self._user, "", self._secret["key"], "")
        raise SecretMissingError

    def transfer_progress(self, stats: TransferProgress) -> None:
        """Stop what is too large."""
        if stats.received_bytes > self._max_bytes:
            raise TooLargeError


class AsItIs(HTTPErrorProcessor):
    """Leaves answers as they are: redirections are not followed, and errors are not raised."""

    def http_response(self, request: Request, response: Any) -> Any:
        """Return the answer of a server."""
        return response

    https_response = http_response


class Relay(ThreadingHTTPServer):
    """Passes the requests of libgit2 to the origin of an address - scheme, host and port - and to no other.

    words: why a request could not be passed on; empty while all could.
    """

    daemon_threads = True

    def __init__(self, url: str) -> None:
        super().__init__(("127.0.0.1", 0), RelayedRequest)
        place = urlsplit(url)
        self.origin = f"{place.scheme}://{place.netloc.rpartition('@')[2]}"
        path = quote(url.partition("://")[2].removeprefix(place.netloc), safe=IN_ADDRESSES)
        self.url = f"http://127.0.0.1:{self.server_port}{path}"
        self.words = ""
        # Proxies are those of the environment.
        self.opener = build_opener(AsItIs)

    def find_path(self, url: str) -> str | None:
        """Return the path and query of an address of the origin; None for one of another origin."""
        asked, own = urlsplit(url), urlsplit(self.origin)
        is_own = asked.hostname == own.hostname and asked.scheme == own.scheme
        if not is_own or (asked.port or PORTS[own.scheme]) != (own.port or PORTS[own.scheme]):
            return None
        return f"/{asked.path.lstrip('/')}{f'?{asked.query}' if asked.query else ''}"


class RelayedRequest(BaseHTTPRequestHandler):
    """One request of libgit2."""

    protocol_version = "HTTP/1.1"
    server: Relay

    def do_GET(self) -> None:
        """Ask the origin, and answer what it answers."""
        url = f"{self.server.origin}{self.path}"
        data = self.rfile.read(int(self.headers.get("Content-Length", 0))) if self.command == "POST" else None
        headers = {name: value for name, value in self.headers.items() if name.lower() not in OF_THE_RELAY}
        asked = Request(url, data, headers, method=self.command)  # noqa: S310 - http and https, by `Relay`
        try:
            with self.server.opener.open(asked, timeout=SILENCE_SECONDS) as answer:
                self.pass_on(answer, url)
        except (OSError, ValueError, http.client.HTTPException) as error:
            self.server.words = self.server.words or f"failed to connect: {error}"
            self.close_connection = True

    do_POST = do_GET  # noqa: N815

    def pass_on(self, answer: http.client.HTTPResponse, url: str) -> None:
        """Pass an answer on, piece by piece. Raises ValueError for one that leads to another origin."""
        location = answer.headers.get("Location")
        path = self.server.find_path(urljoin(url, location)) if location else ""
        if path is None:
            self.server.words = "redirects to another origin"
            raise ValueError(self.server.words)
        self.send_response(answer.status)
        for name in PASSED_ON:
            for value in answer.headers.get_all(name, []):
                self.send_header(name, value)
        if path:
            self.send_header("Location", path)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while piece := answer.read1(PIECE_BYTES):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")


def start_relay(url: str) -> Relay | None:
    """Start a relay, which ends with this process; none for an address by ssh, which knows no redirections."""
    if url.partition("://")[0].lower() not in PORTS:
        return None
    relay = Relay(url)
    Thread(target=relay.serve_forever, daemon=True).start()
    return relay


def fetch(request: dict[str, Any]) -> dict[str, str]:
    """Fetch one reference into the mirror. Return the code of what happened, with libgit2's words."""
    callbacks = Callbacks(request["secret"], request["user"], request["max_bytes"])
    repository = pygit2.Repository(request["mirror"])
    if FETCHED in repository.references:
        repository.references.delete(FETCHED)
    relay = start_relay(request["url"])
    try:
        remote = repository.remotes.create_anonymous(relay.url if relay else request["url"])
        remote.fetch([f"+{request['reference']}:{FETCHED}"], callbacks=callbacks)
    except TooLargeError:
        return {"code": "too_large"}
    except SecretMissingError:
        return {"code": "secret_missing"}
    except SecretRefusedError:
        return {"code": "secret_refused"}
    except (pygit2.GitError, KeyError, ValueError, OSError, MemoryError) as error:
        return {"code": "failed", "words": (relay.words if relay else "") or str(error)}
    return {"code": "fetched" if FETCHED in repository.references else "no_reference"}


def main() -> None:
    """Limit this process, and fetch."""
    request = json.load(sys.stdin)
    # Its default action ends the process, also within libgit2 and when the hub's process is gone.
    signal.alarm(max(1, round(request["seconds"])))
    resource.setrlimit(resource.RLIMIT_AS, (request["memory"], request["memory"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for level in (ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL, ConfigLevel.PROGRAMDATA):
        pygit2.settings.search_path[level] = ""
    pygit2.settings.owner_validation = False
    pygit2.settings.server_connect_timeout = CONNECT_SECONDS * 1_000
    pygit2.settings.server_timeout = SILENCE_SECONDS * 1_000
    json.dump(fetch(request), sys.stdout)


if __name__ == "__main__":
    main()
