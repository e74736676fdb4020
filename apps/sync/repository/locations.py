"""Where sources may be: which addresses and paths are accepted."""

import contextlib
import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import unquote, urlsplit

from django.conf import settings

from apps.core.domain.errors import InvalidInputError
from apps.sync.domain.errors import KnowledgeUnavailableError

# git@example.org:team/knowledge.git
_SCP_LIKE = re.compile(r"(?:(?P<user>[\w.-]+)@)?(?P<host>[\w.-]+):(?P<path>[^:]+)")
# The last label of a name that has an owner: not a number, nor one of a private network.
_TOP_LABEL = re.compile(r"[a-z][a-z-]*|xn--[a-z0-9-]+")
_PRIVATE_LABELS = frozenset(
    {"local", "localhost", "localdomain", "internal", "intranet", "lan", "home", "corp", "arpa"}
)


class Transport(StrEnum):
    """How the files of a location are reached."""

    LOCAL = "local"
    HTTP = "http"
    SSH = "ssh"


@dataclass(frozen=True)
class Location:
    """A checked location. url: to fetch from, without secrets. path: of a local one. user: for ssh."""

    transport: Transport
    url: str
    path: Path | None = None
    user: str = ""


def parse_location(location: str, *, kind: str) -> Location:
    """Return a location that may be used. Raises InvalidInputError, without the location, which may hold a secret."""
    if not location or any(not one.isprintable() for one in location) or location != location.strip():
        raise _refused("It is empty, or contains control characters or spaces around it.")
    if location.startswith("/"):
        return Location(Transport.LOCAL, location, Path(location))
    scheme = location.partition(":")[0].lower() if "://" in location else ""
    if scheme == "file":
        return _local_of(location)
    if kind == "folder":
        raise _refused("A folder is an absolute path or a file:// address.")
    if scheme in {"http", "https"}:
        return _http(location, scheme)
    if scheme == "ssh":
        return _ssh(location)
    short = None if scheme else _SCP_LIKE.fullmatch(location)
    if short and not location.startswith("-"):
        return Location(Transport.SSH, location, user=short["user"] or "git")
    raise _refused("Use an absolute path, file://, https://, ssh:// or git@host:path.")


def is_public(location: Location) -> bool:
    """Return whether a location is an https:// address of a public host by its name. No name is looked up."""
    if location.transport != Transport.HTTP or not location.url.lower().startswith("https:"):
        return False
    host = (urlsplit(location.url).hostname or "").rstrip(".")
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host)
        return address.is_global and not address.is_multicast and getattr(address, "ipv4_mapped", None) is None
    name, _, top = host.rpartition(".")
    return bool(name) and _TOP_LABEL.fullmatch(top) is not None and top not in _PRIVATE_LABELS


def local_path(location: Location) -> Path:
    """Return the real path of a local location, which must lie below a root now. Raises KnowledgeUnavailableError."""
    assert location.path is not None
    try:
        path = location.path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise KnowledgeUnavailableError(
            f"There is nothing to read at the path of the source ({type(error).__name__}): check that it is mounted "
            "and that the hub's user may read it."
        ) from error
    if not is_readable(path):
        raise KnowledgeUnavailableError(
            "The path of the source does not lie below a folder of MEMORYHUB_SYNC_ROOTS, or lies in the data directory "
            "outside of knowledge/: move it, or add its folder."
        )
    return path


def is_readable(path: Path) -> bool:
    """Return whether a resolved path lies in a folder from which the hub may read knowledge."""
    return _is_below(path, settings.MEMORYHUB.sync.roots) and not is_private(path)


def is_private(path: Path) -> bool:
    """Return whether a resolved path is the hub's own: in the data directory, outside of knowledge/."""
    return _is_below(path, private_folders()) and not _is_below(path, [settings.MEMORYHUB.data_dir / "knowledge"])


def private_folders() -> list[Path]:
    """Return where the hub keeps its database, secrets, notes and copies; no root makes them readable."""
    return [settings.MEMORYHUB.data_dir, Path(settings.SYNC_DIR), Path(settings.SYNC_SECRETS_DIR)]


def _is_below(path: Path, folders: Iterable[Path]) -> bool:
    """Return whether a resolved path is one of some folders or in one of them."""
    places = [Path(folder).resolve() for folder in folders]
    return any(path == place or place in path.parents for place in places)


def _local_of(location: str) -> Location:
    parts = urlsplit(location)
    path = unquote(parts.path)
    if parts.netloc not in {"", "localhost"} or parts.query or parts.fragment or not path.startswith("/"):
        raise _refused("A file:// address names an absolute path on this machine.")
    if "\0" in path:
        raise _refused("A path has no NUL.")
    return Location(Transport.LOCAL, location, Path(path))


def _http(location: str, scheme: str) -> Location:
    host = _host_of(location)
    if "@" in urlsplit(location).netloc:
        raise _refused("Name a secret in `credentials` instead of writing a user or a password into the address.")
    if scheme == "http" and not _is_loopback(host):
        raise _refused("Use https://: over http:// anyone in between could change the files.")
    return Location(Transport.HTTP, location)


def _ssh(location: str) -> Location:
    _host_of(location)
    parts = urlsplit(location)
    if parts.password is not None:
        raise _refused("Name a secret in `credentials` instead of writing a password into the address.")
    return Location(Transport.SSH, location, user=parts.username or "git")


def _host_of(location: str) -> str:
    try:
        parts = urlsplit(location)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise _refused("The address cannot be read.") from error
    if not host or parts.query or parts.fragment or " " in location:
        raise _refused("An address has a host, and neither a query nor a fragment.")
    return host


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _refused(detail: str) -> InvalidInputError:
    return InvalidInputError(f"The location cannot be used. {detail}", attr="location")
