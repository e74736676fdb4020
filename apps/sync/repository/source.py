"""What a reader has to know of a source, the limits of reading, and its secrets: never in the database."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from django.conf import settings

from apps.core.domain.errors import InvalidInputError
from apps.sync.domain.errors import KnowledgeUnavailableError
from apps.sync.domain.paths import Wanted
from apps.sync.repository.locations import Transport, parse_location

if TYPE_CHECKING:
    from apps.sync.models import KnowledgeSource


# Of the names of copies that several sources read.
_SHARED = UUID("5f0c3f0e-2b1d-4c1c-9d53-6a1f0d9a7b64")
MAX_SECRET_BYTES = 100_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
# Forges take any user with a token.
TOKEN_USER = "git"  # noqa: S105


@dataclass(frozen=True)
class SourceSettings:
    """Where the files of a source are and which of them it wants; of `KnowledgeSource`, without the database."""

    uuid: UUID
    kind: str
    location: str
    branch: str = ""
    folder: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    credentials: str = ""

    @classmethod
    def of(cls, source: KnowledgeSource) -> SourceSettings:
        """Return the settings of a stored source."""
        return cls(
            uuid=source.uuid,
            kind=source.kind,
            location=source.location,
            branch=source.branch,
            folder=source.folder,
            include=tuple(source.include),
            exclude=tuple(source.exclude),
            credentials=source.credentials,
        )

    @property
    def copy(self) -> UUID:
        """Return the name of the hub's copy of its repository.

        Sources of the same branch of a server's repository, read with the same secret, share one. Of a repository on
        this machine each source copies only what it wants.
        """
        try:
            transport = parse_location(self.location, kind=self.kind).transport if self.kind == "git" else None
        except InvalidInputError:
            transport = None
        if transport in {None, Transport.LOCAL}:
            return self.uuid
        return uuid5(_SHARED, "\0".join((self.location, self.branch, self.credentials)))

    @property
    def wanted(self) -> Wanted:
        """Return which paths it wants."""
        return Wanted(self.folder, self.include, self.exclude)


@dataclass(frozen=True)
class ReadLimits:
    """Limits of reading a source. total_bytes: that a fetch may receive."""

    fetch_seconds: float
    total_bytes: int
    files: int
    file_bytes: int


def read_limits() -> ReadLimits:
    """Return the limits of the settings."""
    sync = settings.MEMORYHUB.sync
    return ReadLimits(
        fetch_seconds=sync.fetch_seconds,
        total_bytes=sync.max_mb * 1_000_000,
        files=sync.max_files,
        file_bytes=sync.max_file_kb * 1_000,
    )


def too_large(size: int, limit: int) -> str:
    """Return why a file of this size is refused."""
    return f"It has {size:,} bytes; MEMORYHUB_SYNC_MAX_FILE_KB allows {limit:,}."


def too_many_files(limit: int) -> KnowledgeUnavailableError:
    """Return the error for a source of too many files."""
    return KnowledgeUnavailableError(
        f"The source has more than {limit:,} files (MEMORYHUB_SYNC_MAX_FILES): name the folder that holds the "
        "knowledge, exclude some, or raise the limit."
    )


def check_secret_name(name: str, attr: str = "credentials") -> None:
    """Raise InvalidInputError unless this can be the name of a secret."""
    if not _NAME.fullmatch(name):
        raise InvalidInputError("The name of a secret has letters, digits, - and _, at most 100.", attr=attr)


def read_secret(name: str) -> str:
    """Return a secret. Raises KnowledgeUnavailableError when there is none."""
    check_secret_name(name)
    variable = name.upper().replace("-", "_")
    if text := settings.MEMORYHUB.sync.secrets.get(variable, "").strip():
        return text
    try:
        with (Path(settings.SYNC_SECRETS_DIR) / name).open("rb") as file:
            text = file.read(MAX_SECRET_BYTES).decode().strip()
    except (OSError, UnicodeError):
        text = ""
    if not text:
        raise KnowledgeUnavailableError(
            f"There is no secret {name}: set MEMORYHUB_SYNC_SECRET_{variable}, or write it to the file "
            f"sync-secrets/{name} of the data directory."
        )
    return text


def fetch_secret(name: str) -> dict[str, str]:
    """Return a secret by its kind, as `fetch_process` takes it; empty without a name.

    A private key for ssh, `user:password`, or a token.
    """
    if not name:
        return {}
    text = read_secret(name)
    if text.startswith("-----BEGIN"):
        return {"kind": "key", "key": f"{text}\n"}
    user, colon, password = text.partition(":")
    return {"kind": "password", "user": user if colon else TOKEN_USER, "password": password if colon else text}
