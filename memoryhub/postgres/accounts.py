"""The system account that runs the embedded PostgreSQL, and its access to files.

PostgreSQL refuses to run as root. Started by root, it runs as the owner of its data, at first as an account
of its own that cannot log in; started by another user, it runs as that user.
"""

import logging
import os
import pwd
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SERVICE_ACCOUNT = "memoryhub-db"

logger = logging.getLogger(__name__)


class AccountError(Exception):
    """No usable account, or one that cannot reach what it needs; the text says what to do."""


@dataclass(frozen=True)
class Account:
    """A system account."""

    name: str
    uid: int
    gid: int

    def subprocess_options(self) -> dict[str, Any]:
        """Return arguments for `subprocess` that start a process with this account's rights and no others."""
        if os.geteuid() == self.uid:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


def server_account_name(pgdata: Path) -> str | None:
    """Return the name of the account that runs, or will run, the server of `pgdata`; None for a user without a name.

    Changes nothing.
    """
    uid = os.geteuid()
    if uid == 0:
        uid = owner_of(pgdata) or 0
        if uid == 0:
            return SERVICE_ACCOUNT
    return user_name(uid)


def server_account(pgdata: Path) -> Account:
    """Return the account for the server of `pgdata`; as root it is created when it does not exist.

    Raises AccountError when the data belongs to another user or the user has no name.
    """
    if os.geteuid() == 0:
        name = server_account_name(pgdata)
        if name is None:
            raise AccountError(f"{pgdata} belongs to user id {owner_of(pgdata)}, which has no name here.")
        return ensure_account(name)
    owner = owner_of(pgdata)
    if owner not in (None, os.geteuid()):
        who = user_name(owner or 0) or owner
        raise AccountError(f"{pgdata} belongs to {who}: run this as that user or as root.")
    name = user_name(os.geteuid())
    if name is None:
        raise AccountError(
            f"The user id {os.geteuid()} has no name in /etc/passwd, which PostgreSQL needs: "
            "add one, or set DATABASE_URL to use a server of your own."
        )
    return Account(name, os.geteuid(), os.getegid())


def own_private_directory(path: Path, account: Account) -> None:
    """Create `path` as a directory that belongs to `account` and that no other account may enter.

    Raises AccountError when something else is in its place.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid not in {os.geteuid(), account.uid}:
        raise AccountError(f"{path} must be a directory of {account.name}, and is not: remove it.")
    if status.st_uid != account.uid:
        os.chown(path, account.uid, account.gid)
    path.chmod(0o700)


def close_data_directory(path: Path, account: Account) -> None:
    """Close `path` to all but its owner, and let `account` pass through it to its own directories."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = path.stat()
    if status.st_uid != os.geteuid() or status.st_mode & stat.S_ISVTX:
        return
    if account.uid == os.geteuid():
        path.chmod(0o700)
        return
    os.chown(path, -1, account.gid)
    path.chmod(0o710)


def open_way_to(path: Path) -> None:
    """As root, let other accounts pass through the parents of `path` (not list them) where they cannot."""
    for parent in path.resolve().parents:
        mode = parent.stat().st_mode
        if not mode & stat.S_IXOTH:
            logger.info("Letting other accounts pass through %s, for the database server", parent)
            parent.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)


def open_for_reading(tree: Path) -> None:
    """Let every account read the files of `tree` and run the programs among them."""
    for path in (tree, *tree.rglob("*")):
        if path.is_symlink():
            continue
        mode = stat.S_IMODE(path.stat().st_mode)
        wanted = mode | stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0)
        if wanted != mode:
            path.chmod(wanted)


def ensure_account(name: str) -> Account:
    """Return a system account, created when it does not exist. Raises AccountError."""
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        options = "--system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin"
        try:
            subprocess.run(["useradd", *options.split(), name], check=True, capture_output=True)
            entry = pwd.getpwnam(name)
        except (OSError, subprocess.CalledProcessError, KeyError) as error:
            raise AccountError(
                f"PostgreSQL does not run as root, and the account {name} could not be created ({error}): "
                f"create it, or run this as another user."
            ) from error
    return Account(name, entry.pw_uid, entry.pw_gid)


def owner_of(path: Path) -> int | None:
    """Return the user id that owns `path`, None when it does not exist."""
    try:
        return path.lstat().st_uid
    except OSError:
        return None


def user_name(uid: int) -> str | None:
    """Return the name of a user id, None when it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None
