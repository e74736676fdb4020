"""Fetching from another machine by a process of its own, so that no server can hold or fill the hub."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from apps.sync.domain.errors import KnowledgeUnavailableError
from apps.sync.repository.locations import Location
from apps.sync.repository.source import ReadLimits, fetch_secret

PROGRAM = Path(__file__).with_name("fetch_process.py")
# Python, libgit2 and its caches; what is received is mapped and unpacked besides.
MEMORY_BYTES = 2_000_000_000
# Nothing else of the hub's environment is passed on.
ENVIRONMENT = (
    "PATH", "HOME", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
)  # fmt: skip
MAX_WORDS = 200

SENTENCES = {
    "no_reference": "The repository has no such branch, or no commit yet: check the name of the branch.",
    "secret_missing": "The server asks for a secret: name one in `credentials`; a key for ssh, a token or "
    "user:password for https.",
    "secret_refused": "The server has refused the secret of the source: check that it is valid and may read the "
    "repository.",
    "killed": "Fetching the repository was ended by the system: it may need more memory than is allowed for "
    "MEMORYHUB_SYNC_MAX_MB.",
}
# By what libgit2 says.
_WORDS = (
    (r"redirect", "The server redirects to another one: enter the address there."),
    (r"status code: 40[13]", "The server does not let the hub read the repository: check `credentials`."),
    (r"404|not found|does not exist", "The server has no such repository, or the secret may not read it."),
    (
        r"hostkey|host key",
        "The key of the server is not known: add it to ~/.ssh/known_hosts of the hub's user.",
    ),
    (r"certificate", "The certificate of the server is not trusted: check the address, or set SSL_CERT_FILE."),
    (r"authenticat|publickey", SENTENCES["secret_refused"]),
    (r"No space|memory", "The repository cannot be stored: the disk is full, or it needs too much memory."),
)


@dataclass(frozen=True)
class RemoteFetch:
    """What to fetch. reference: in full, or HEAD. credentials: the name of a secret."""

    location: Location
    reference: str
    credentials: str
    limits: ReadLimits

    def into(self, mirror: Path, lock: IO[str]) -> None:
        """Fetch into a bare repository as `FETCHED`. Raises KnowledgeUnavailableError.

        The process holds the lock too: should the hub's process be killed, no other one writes until it has ended.
        """
        secret = fetch_secret(self.credentials)
        request = {
            "mirror": str(mirror),
            "url": self.location.url,
            "user": self.location.user,
            "secret": secret,
            "reference": self.reference,
            "max_bytes": self.limits.total_bytes,
            "seconds": self.limits.fetch_seconds,
            "memory": MEMORY_BYTES + 3 * self.limits.total_bytes,
        }
        code, words = self._run(json.dumps(request).encode(), lock)
        if code != "fetched":
            raise KnowledgeUnavailableError(self._sentence(code, _scrubbed(words, secret)))

    def _run(self, request: bytes, lock: IO[str]) -> tuple[str, str]:
        """Return the code and words of the process; its own clock ends it, and so does this one."""
        process = subprocess.Popen(
            [sys.executable, "-I", "-B", str(PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in ENVIRONMENT if name in os.environ},
            cwd="/",
            pass_fds=(lock.fileno(),),
        )
        try:
            output, _ = process.communicate(request, timeout=self.limits.fetch_seconds + 2)
        except subprocess.TimeoutExpired:
            return "timeout", ""
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if process.returncode == -14:
            return "timeout", ""
        try:
            answer = json.loads(output)
        except ValueError:
            return "killed", ""
        return str(answer["code"]), str(answer.get("words", ""))

    def _sentence(self, code: str, words: str) -> str:
        if code == "timeout" or "timed out" in words:
            return (
                f"The repository could not be fetched within {self.limits.fetch_seconds:g} seconds "
                "(MEMORYHUB_SYNC_FETCH_SECONDS), or the server sends nothing."
            )
        if code == "too_large":
            return (
                f"The server sends more than {self.limits.total_bytes // 1_000_000} MB: raise MEMORYHUB_SYNC_MAX_MB, "
                "or keep the knowledge in a smaller repository."
            )
        if code in SENTENCES:
            return SENTENCES[code]
        for pattern, sentence in _WORDS:
            if re.search(pattern, words, re.IGNORECASE):
                return sentence
        return f"The repository cannot be fetched: {words}."


def _scrubbed(words: str, secret: dict[str, str]) -> str:
    """Return what libgit2 says in one short line without secrets."""
    for name in ("password", "key"):
        if secret.get(name):
            words = words.replace(secret[name], "***")
    words = re.sub(r"//[^/@\s]*@", "//", words)
    return "".join(one for one in words if one.isprintable())[:MAX_WORDS]
