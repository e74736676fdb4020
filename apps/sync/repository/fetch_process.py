"""Fetch from another machine: a program of its own, without Django, which is killed when it takes too long.

It reads one JSON object from its standard input and writes one to its standard output. Nothing of the secret is in its
arguments or its environment, and no libgit2 call of it can block the hub.
"""

import json
import resource
import signal
import sys
from typing import Any

import pygit2
from pygit2.enums import ConfigLevel, CredentialType
from pygit2.remotes import TransferProgress

FETCHED = "refs/memoryhub/fetched"
CONNECT_SECONDS = 20
# How long a server may send nothing.
SILENCE_SECONDS = 60
# GIT_REMOTE_REDIRECT_NONE: a server that was allowed must not lead to another one, which would get the secret.
REDIRECT_NONE = 1


class TooLargeError(Exception):
    """More was sent than may be received."""


class SecretMissingError(Exception):
    """The server asks for a secret and there is none, or not one of this kind."""


class SecretRefusedError(Exception):
    """The server has refused the secret."""


class Callbacks(pygit2.RemoteCallbacks):
    """Answers of the hub to libgit2. secret: with `kind` as in secrets.py, or empty."""

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


def fetch(request: dict[str, Any]) -> dict[str, str]:
    """Fetch one reference into the mirror. Return the code of what happened, with libgit2's words."""
    callbacks = Callbacks(request["secret"], request["user"], request["max_bytes"])
    repository = pygit2.Repository(request["mirror"])
    if FETCHED in repository.references:
        repository.references.delete(FETCHED)
    try:
        remote = repository.remotes.create_anonymous(request["url"])
        # Proxies are those of the environment.
        remote.fetch([f"+{request['reference']}:{FETCHED}"], callbacks=callbacks, proxy=True)
    except TooLargeError:
        return {"code": "too_large"}
    except SecretMissingError:
        return {"code": "secret_missing"}
    except SecretRefusedError:
        return {"code": "secret_refused"}
    except (pygit2.GitError, KeyError, ValueError, OSError, MemoryError) as error:
        return {"code": "failed", "words": str(error)}
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
