"""The hub's own copy of a repository: what keeps texts readable when the repository is gone or was rewritten."""

import contextlib
import fcntl
import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from uuid import UUID

import pygit2
from django.conf import settings

from apps.core.files import exchange_file
from apps.sync.domain.errors import KnowledgeUnavailableError
from apps.sync.domain.knowledge import RefusedFile
from apps.sync.repository.library import GIT_ERRORS
from apps.sync.repository.trees import EMPTY_TREE, root_of

HEAD = "refs/memoryhub/head"
SYNCED = "refs/synced/"
# Of histories that were rewritten, so many former heads are kept.
MAX_SYNCED = 100
# Packs of a fetch each; above so many, small ones become one.
MAX_PACKS = 40
IDENTITY = "memoryhub-identity"
LEFT_OUT = "memoryhub-left-out.json"
DAMAGED = "memoryhub-damaged"


class Mirror:
    """A bare repository below SYNC_DIR. identity: a digest of what it was made from; another one needs a new copy."""

    def __init__(self, uuid: UUID) -> None:
        self.folder = Path(settings.SYNC_DIR)
        self.path = self.folder / f"{uuid}.git"
        self._lock = self.folder / f"{uuid}.lock"

    @contextlib.contextmanager
    def lock(self, seconds: float) -> Iterator[IO[str]]:
        """Hold the lock of writers while the block runs, across processes. Raises KnowledgeUnavailableError."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            opened = self._lock.open("w")
        except OSError as error:
            raise KnowledgeUnavailableError(
                f"The folder of copies of repositories cannot be written ({type(error).__name__}): check the data "
                "directory."
            ) from error
        deadline = time.monotonic() + seconds
        with opened as file:
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise KnowledgeUnavailableError("The repository is already being fetched.") from None
                    time.sleep(0.02)
            self._clear()
            yield file

    def adopt(self, former: UUID) -> None:
        """Take over the copy that was made under another name, where there is none yet. Under the lock."""
        path = self.folder / f"{former}.git"
        if path != self.path and not self.path.exists() and path.exists():
            path.rename(self.path)

    def open(self) -> pygit2.Repository:
        """Return the copy for reading. Raises KnowledgeUnavailableError when there is none."""
        error: Exception | None = None
        for _ in range(3):
            try:
                return pygit2.Repository(str(self.path))
            except GIT_ERRORS as missing:
                # It is being replaced.
                error = missing
                time.sleep(0.02)
        raise KnowledgeUnavailableError("The source has not been fetched yet: start a sync.") from error

    def usable(self, identity: str) -> pygit2.Repository | None:
        """Return the copy if it was made from the same and is not known to be damaged. Under the lock."""
        try:
            repository = pygit2.Repository(str(self.path))
            if (self.path / IDENTITY).read_text() != identity or self.reports_damage():
                return None
            head = head_of(repository)
            if head is not None and (root := root_of(repository, head)) != EMPTY_TREE:
                repository.odb.read(pygit2.Oid(raw=root))
        except GIT_ERRORS:
            return None
        return repository

    @contextlib.contextmanager
    def replacing(self, identity: str) -> Iterator[pygit2.Repository]:
        """Make a new copy in the block, which takes the place of the old one when all went well. Under the lock."""
        aside = Path(tempfile.mkdtemp(prefix=f"{self.path.name}.new-", dir=self.folder))
        repository = pygit2.init_repository(str(aside), bare=True)  # without templates
        (aside / IDENTITY).write_text(identity)
        if self.reports_damage():
            (aside / DAMAGED).write_text(f"{(self.path / DAMAGED).read_text()}made again\n")
        try:
            yield repository
            if self.path.exists():
                self.path.rename(f"{aside}".replace(".new-", ".old-"))
            aside.rename(self.path)
        finally:
            self._clear()

    def report_damage(self, oid: str) -> bool:
        """Note that an object of the copy cannot be read; return whether a new copy can be expected to have it."""
        try:
            noted = (self.path / DAMAGED).read_text() if (self.path / DAMAGED).exists() else ""
            if oid in noted:
                return False
            (self.path / DAMAGED).write_text(f"{noted}{oid}\n")
        except OSError:
            return False
        return True

    def reports_damage(self) -> bool:
        """Return whether something is damaged that a new copy may have."""
        path = self.path / DAMAGED
        return path.exists() and not path.read_text().endswith("made again\n")

    def left_out(self) -> dict[str, RefusedFile]:
        """Return the files that were not copied, by object, with why."""
        try:
            rows = json.loads((self.path / LEFT_OUT).read_text())
        except (OSError, ValueError):
            return {}
        return {oid: RefusedFile(path="", code=code, detail=detail) for oid, (code, detail) in rows.items()}

    def _clear(self) -> None:
        """Remove what killed processes left behind. Under the lock."""
        for old in self.folder.glob(f"{self.path.name}.old-*"):
            if not self.path.exists():
                old.rename(self.path)
        for left in self.folder.glob(f"{self.path.name}.*-*"):
            shutil.rmtree(left, ignore_errors=True)
        for lock in self.path.rglob("*.lock"):
            lock.unlink(missing_ok=True)
        for part in (self.path / "objects" / "pack").glob("pack_*"):
            part.unlink(missing_ok=True)


def write_left_out(repository: pygit2.Repository, left_out: dict[str, RefusedFile]) -> None:
    """Store which files were not copied."""
    rows = {oid: (refused.code, refused.detail) for oid, refused in left_out.items()}
    path = Path(repository.path) / LEFT_OUT
    exchange_file(path, json.dumps(rows))


def head_of(repository: pygit2.Repository) -> pygit2.Oid | None:
    """Return the commit that was fetched last, or None."""
    try:
        target = repository.references[HEAD].target
    except KeyError:
        return None
    return target if isinstance(target, pygit2.Oid) else None


def advance(repository: pygit2.Repository, commit: pygit2.Oid) -> None:
    """Note the commit that was fetched; a former one that is not in its history stays readable under a reference."""
    former = head_of(repository)
    if former == commit:
        return
    if former is not None and not repository.descendant_of(commit, former):
        kept = sorted(int(name.removeprefix(SYNCED)) for name in repository.references if name.startswith(SYNCED))
        repository.references.create(f"{SYNCED}{kept[-1] + 1 if kept else 1}", former, force=True)
        for number in kept[: max(0, len(kept) + 1 - MAX_SYNCED)]:
            repository.references.delete(f"{SYNCED}{number}")
    repository.references.create(HEAD, commit, force=True)


def join_packs(repository: pygit2.Repository) -> None:
    """Make one pack of small ones when there are many, since each read searches all. Under the lock.

    A pack stays that is twice as large as all smaller ones together, so an object is seldom written again.
    """
    folder = Path(repository.path) / "objects" / "pack"
    packs = sorted(folder.glob("*.pack"), key=lambda pack: pack.stat().st_size)
    if len(packs) <= MAX_PACKS:
        return
    small = packs[:]
    while small and small[-1].stat().st_size >= 2 * sum(pack.stat().st_size for pack in small[:-1]):
        small.pop()
    if len(small) < 2:
        return
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="join-") as aside:
        odb = _odb_of(small, Path(aside))
        builder = pygit2.PackBuilder(repository)
        for oid in odb:
            builder.add(oid)
        builder.write(aside)
        made = sorted(Path(aside).glob("pack-*"), key=lambda path: path.suffix, reverse=True)
        for part in made:
            # The index comes last: with it the pack is in use.
            part.rename(folder / part.name)
    for pack in small:
        if pack.name not in {part.name for part in made}:
            pack.with_suffix(".idx").unlink(missing_ok=True)
            pack.unlink(missing_ok=True)


def _odb_of(packs: list[Path], aside: Path) -> pygit2.Odb:
    (aside / "objects" / "pack").mkdir(parents=True)
    for pack in packs:
        for path in (pack, pack.with_suffix(".idx")):
            (aside / "objects" / "pack" / path.name).hardlink_to(path)
    return pygit2.Odb(str(aside / "objects"))
