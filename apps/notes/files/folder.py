"""The folder of one user, entered step by step so that no symbolic link leads out of it (DESIGN D2).

Files are written aside, synced and exchanged with the present ones. What an exchange takes away stays beside the file
for SETTLE_SECONDS under a hidden name, because an editor that writes in place may have it open still; `displaced` lists
what was written to it since.
"""

import contextlib
import errno
import fcntl
import os
import shutil
import signal
import stat
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from apps.core.domain.errors import ConflictError, InvalidInputError, MemoryHubError, NotFoundError, UnavailableError
from apps.core.files import sync_directory
from apps.core.steps import Step, no_step
from apps.notes.domain.places import MAX_SEGMENTS, USERS_FOLDER, NotePlace, is_note_name, problem_of
from apps.notes.domain.text import appended_since, digest
from apps.notes.files.exchange import ExchangeUnsupportedError, exchange, rename_new
from apps.notes.files.hidden import HiddenFile, displaced_name, new_name, parse_hidden, part_name

# A larger file is refused: what people write by hand is far below it.
MAX_BYTES = 5 * 1024 * 1024
# How long an editor that writes in place may take from opening a file to closing it.
SETTLE_SECONDS = 3.0
# An editor that writes in place is done when it has not written for so long.
DONE_SECONDS = 0.5
# A file is read when it was not written to for so long, or after so many tries.
QUIET_SECONDS, QUIET_TRIES = 0.05, 20
# Where a kill may interrupt `Folder.replace`.
REPLACE_STEPS = ("write", "sync", "exchange", "sync directory", "keep displaced", "done")
# Codes of errors for a file as it is on the disk.
UNREADABLE = frozenset({"too_large", "not_a_file", "hard_link", "no_permission", "disk_error"})
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Displaced:
    """What an exchange took away, or an editor wrote to it afterwards.

    name: of the hidden file that holds it. base: the digest of what was expected in it.
    """

    name: str
    text: bytes
    base: str

    @property
    def is_expected(self) -> bool:
        """Return whether no editor wrote to it."""
        return digest(self.text) == self.base


@dataclass(frozen=True)
class Folder:
    """The folder of a user's notes."""

    path: Path

    def create(self) -> None:
        """Create the folder where it is missing, for its owner only."""
        with notes_errors(""):
            missing = [each for each in (self.path, *self.path.parents[:2]) if not each.exists()]
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            for path in missing:
                sync_directory(path.parent)

    @contextlib.contextmanager
    def directory(self, place: NotePlace, *, create: bool = False) -> Iterator[int]:
        """Yield an open descriptor of the directory that a place is in. Raises NotFoundError, ConflictError."""
        with notes_errors(str(place)), contextlib.ExitStack() as stack:
            # The folder itself may be a link: an operator may keep it where it is synchronised.
            current = _closing(stack, os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
            for segment in place.segments[:-1]:
                if create:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(segment, mode=0o700, dir_fd=current)
                        os.fsync(current)
                current = _closing(stack, os.open(segment, _DIRECTORY, dir_fd=current))
            yield current

    def read(self, place: NotePlace, known: str = "") -> bytes | None:
        """Return the text of a note; None when there is no file. Raises InvalidInputError for one that is too large.

        known: the digest of a text that is whole for certain; for any other one this waits until its writer is done.
        """
        try:
            with self.directory(place) as directory:
                return read_quiet(directory, place.name, known)
        except NotFoundError:
            return None

    def replace(self, place: NotePlace, text: bytes, expected: str, step: Step = no_step) -> Displaced | None:
        """Put a text in the place of the present one, whole or not at all; return what it took away, None for nothing.

        expected: the digest of what is to be taken away. Anything else is an editor's, and stays listed by `displaced`
        until a version has it. step: called before each of REPLACE_STEPS.
        """
        if len(text) > MAX_BYTES:
            raise too_large(place.name)
        self.create()
        with self.directory(place, create=True) as directory:
            aside = new_name(place.name)
            is_ours = True  # what lies aside: it is the former file after the exchange, which must not be lost
            try:
                step("write")
                write_aside(directory, aside, text, place.name, step)
                whole = part_name(place.name, expected, text)
                rename_within(directory, aside, whole)
                aside = whole
                step("exchange")
                is_ours, had_file = False, put(directory, aside, place.name)
                step("sync directory")
                os.fsync(directory)
                if not had_file:
                    return None
                written = os.stat(aside, dir_fd=directory, follow_symlinks=False).st_mtime_ns
                before = read_taken(directory, aside, place.name, text, expected)
                step("keep displaced")
                kept = displaced_name(place.name, expected, written if digest(before) == expected else None)
                rename_within(directory, aside, kept)
                step("done")
                return Displaced(kept, before, expected)
            except OSError:
                if is_ours:
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(aside, dir_fd=directory)
                raise

    def set_time(self, place: NotePlace, seconds: float) -> None:
        """Say when the text of a file was written, in seconds since 1970."""
        with self.directory(place) as directory:
            os.utime(place.name, (seconds, seconds), dir_fd=directory, follow_symlinks=False)

    def displaced(self, place: NotePlace) -> list[Displaced]:
        """List what was written to files after they were exchanged, and what a killed process left of an exchange.

        Deletes those that no editor wrote to in time. The caller holds the lock of the folder.
        """
        found = []
        try:
            with self.directory(place) as directory:
                for name in sorted(os.listdir(directory)):  # noqa: PTH208 - of a descriptor
                    hidden = parse_hidden(name)
                    if hidden is None or hidden.note != place.name:
                        continue
                    # What cannot be read is left alone: it is a person's.
                    with contextlib.suppress(OSError, MemoryHubError):
                        text = text_of_displaced(directory, name, hidden)
                        if text is not None:
                            found.append(Displaced(name, text, hidden.expected))
        except NotFoundError:
            return []
        return found

    def places_with_displaced(self) -> set[NotePlace]:
        """Return the notes beside which hidden files of exchanges are."""
        found: set[NotePlace] = set()
        for place in self.places(hidden=True):
            hidden = parse_hidden(place.name)
            if hidden is not None:
                found.add(NotePlace((*place.segments[:-1], hidden.note)))
        return found

    def settle(self, place: NotePlace, displaced: Displaced) -> None:
        """Keep a displaced file, whose text a version has, as one that may be deleted unless it is written to again."""
        with self.directory(place) as directory, contextlib.suppress(FileNotFoundError):
            rename_within(directory, displaced.name, displaced_name(place.name, digest(displaced.text)))

    def changed_at(self, place: NotePlace) -> float | None:
        """Return when a file was last changed or put in its place, in seconds since 1970; None without a file."""
        try:
            with self.directory(place) as directory:
                status = os.stat(place.name, dir_fd=directory, follow_symlinks=False)
                return max(status.st_mtime, status.st_ctime)
        except NotFoundError:
            return None

    def has_anything(self) -> bool:
        """Return whether there is a file of any kind besides the folders of other users."""
        if not self.path.is_dir():
            return False
        paths = (path for path in self.path.iterdir() if path.name.casefold() != USERS_FOLDER)
        return any(not path.is_dir() or any(below.is_file() for below in path.rglob("*")) for path in paths)

    def clear(self) -> int:
        """Delete everything but the folders of other users; return how many notes there were."""
        notes = len(self.places())
        if self.path.is_dir():
            with notes_errors(""):
                for path in self.path.iterdir():
                    if path.name.casefold() == USERS_FOLDER:
                        continue
                    if path.is_dir() and not path.is_symlink():
                        shutil.rmtree(path)
                    else:
                        path.unlink()
        return notes

    def remove(self) -> None:
        """Remove the folder, which is empty; of a link, only the link."""
        with notes_errors(""), contextlib.suppress(FileNotFoundError):
            if self.path.is_symlink():
                self.path.unlink()
            else:
                self.path.rmdir()

    def places(self, *, hidden: bool = False) -> list[NotePlace]:
        """List the notes, without those of other users, links, and what is no file or cannot be entered.

        hidden: list the hidden files instead.
        """
        found: list[NotePlace] = []
        self._walk(str(self.path), (), found, hidden)
        return sorted(found)

    def _walk(self, directory: str, above: tuple[str, ...], found: list[NotePlace], hidden: bool) -> None:
        with contextlib.suppress(OSError), os.scandir(directory) as entries:
            for entry in entries:
                segments = (*above, entry.name)
                if len(segments) > MAX_SEGMENTS or (not above and entry.name.casefold() == USERS_FOLDER):
                    continue
                is_plain = problem_of(entry.name) is None
                if entry.is_dir(follow_symlinks=False):
                    if is_plain:
                        self._walk(entry.path, segments, found, hidden)
                elif entry.is_file(follow_symlinks=False):
                    is_note = is_plain and is_note_name(entry.name)
                    if entry.name.startswith(".") if hidden else is_note:
                        found.append(NotePlace(segments))


def _closing(stack: contextlib.ExitStack, descriptor: int) -> int:
    stack.callback(os.close, descriptor)
    return descriptor


def rename_within(directory: int, source: str, target: str) -> None:
    """Rename a file of an open directory."""
    os.rename(source, target, src_dir_fd=directory, dst_dir_fd=directory)


def text_of_displaced(directory: int, name: str, hidden: HiddenFile) -> bytes | None:
    """Return the text of a hidden file where it is an editor's; delete the file when its time is up.

    What was written to lately is not returned yet: its writer may not be done. One that was not written to since is
    read once, before it is deleted: there are many of them while entries are added fast.
    """
    if hidden.state == "new":  # of a process that was killed, for the caller holds the lock
        os.unlink(name, dir_fd=directory)
        return None
    status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    is_over = time.time() - max(status.st_ctime, status.st_mtime) > SETTLE_SECONDS
    is_over = is_over and not has_writer(directory, name)
    if not is_over and hidden.is_untouched(status.st_mtime_ns):
        return None
    text = read_whole(directory, name)
    if hidden.is_ours(text):
        rename_within(directory, name, displaced_name(hidden.note, digest(text)))
        return None
    if digest(text) != hidden.expected:
        patience = DONE_SECONDS if text else SETTLE_SECONDS
        return text if time.time() - status.st_mtime > patience else None
    if is_over:
        os.unlink(name, dir_fd=directory)
    return None


def read_taken(directory: int, aside: str, name: str, ours: bytes, expected: str) -> bytes:
    """Return what an exchange took away for our text; put it back where it cannot be read, and raise the error."""
    try:
        return read_quiet(directory, aside, expected)  # an editor may have emptied it to write it in place
    except (OSError, MemoryHubError):
        with contextlib.suppress(ExchangeUnsupportedError, OSError, MemoryHubError):
            exchange(directory, aside, name)
            if read_whole(directory, aside) == ours:  # else an editor saved since: `displaced` lists it
                os.unlink(aside, dir_fd=directory)
        raise


def read_quiet(directory: int, name: str, known: str) -> bytes:
    """Return the bytes of a file once it was not written to for a moment.

    Whole lines after the known text are taken at once: others may go on adding to it for as long as they like.
    """
    for _ in range(QUIET_TRIES):
        text = read_whole(directory, name)
        if digest(text) == known or (text.endswith(b"\n") and appended_since(text, known) is not None):
            break
        if time.time() - os.stat(name, dir_fd=directory, follow_symlinks=False).st_mtime > QUIET_SECONDS:
            break
        time.sleep(QUIET_SECONDS / 2)
    return text


def read_whole(directory: int, name: str) -> bytes:
    """Return the bytes of a regular file. Raises OSError, and InvalidInputError or ConflictError for its note."""
    hidden = parse_hidden(name)
    shown = name if hidden is None else hidden.note
    descriptor = os.open(name, _FILE, dir_fd=directory)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ConflictError(f"{shown} is not a file.", code="not_a_file")
        if has_name_elsewhere(directory, status):
            raise hard_link(shown)
        if status.st_size > MAX_BYTES:
            raise too_large(shown)
        return file.read(MAX_BYTES + 1)


def has_writer(directory: int, name: str) -> bool:
    """Return whether a process has a file open to write it; false where the system cannot say.

    Linux grants a lease for reading only while there is none. Whoever opened the file meanwhile would wait until it is
    given back, and this process would be told so by a signal that does nothing.
    """
    if sys.platform != "linux":
        return False
    descriptor = os.open(name, _FILE, dir_fd=directory)
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return True
    except OSError:  # a file of somebody else, or a file system without leases
        return False
    finally:
        os.close(descriptor)
    return False


def copy_ownership(directory: int, former: str, descriptor: int) -> None:
    """Set owner, permissions and, where the system can, extended attributes of a file to those of the former one.

    A new file is private. Raises PermissionError for a former one without any write bit: a person protects it.
    """
    try:
        status = os.stat(former, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return
    if not status.st_mode & 0o222:
        raise PermissionError(errno.EACCES, "read-only", former)
    with contextlib.suppress(OSError):  # only root may give files to others
        os.fchown(descriptor, status.st_uid, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
    if stat.S_ISREG(status.st_mode) and sys.platform == "linux":
        with contextlib.suppress(OSError), os.fdopen(os.open(former, _FILE, dir_fd=directory), "rb") as file:
            for name in os.listxattr(file.fileno()):
                with contextlib.suppress(OSError):
                    os.setxattr(descriptor, name, os.getxattr(file.fileno(), name))


def write_aside(directory: int, name: str, text: bytes, former: str, step: Step) -> None:
    """Write a new file that is to replace a former one, and wait until it is on the disk."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, 0o600, dir_fd=directory), "wb") as file:
        copy_ownership(directory, former, file.fileno())
        file.write(text)
        file.flush()
        step("sync")
        os.fsync(file.fileno())


def put(directory: int, aside: str, name: str) -> bool:
    """Exchange a file with the one of a name, so that `aside` is the former one. Return whether there was one."""
    while True:
        try:
            status = os.stat(name, dir_fd=directory, follow_symlinks=False)
            if not stat.S_ISREG(status.st_mode):
                raise ConflictError(f"{name} is not a file.", code="not_a_file")
            if has_name_elsewhere(directory, status):
                raise hard_link(name)
            exchange(directory, aside, name)
            return True
        except ExchangeUnsupportedError:
            return put_stepwise(directory, aside, name)
        except FileNotFoundError:
            with contextlib.suppress(FileExistsError):  # created since: exchange it
                rename_new(directory, aside, name)
                return False


def put_stepwise(directory: int, aside: str, name: str) -> bool:
    """Do the same in two steps, on a file system that cannot do it in one: a save between them is lost."""
    hidden = parse_hidden(aside)
    # A process that is killed in between leaves what the next look takes for a displaced file, and it is one.
    former = f"{aside}.former" if hidden is None else displaced_name(hidden.note, hidden.expected)
    os.link(name, former, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
    os.rename(aside, name, src_dir_fd=directory, dst_dir_fd=directory)
    os.rename(former, aside, src_dir_fd=directory, dst_dir_fd=directory)
    return True


def has_name_elsewhere(directory: int, status: os.stat_result) -> bool:
    """Return whether a file of an open directory has a name outside it, so that it may be a file of somebody else.

    Both names are in the directory while the hub exchanges two files where the file system cannot do that in one step.
    """
    if status.st_nlink < 2:
        return False
    with os.scandir(directory) as entries:
        return sum(entry.inode() == status.st_ino for entry in entries) < status.st_nlink


def hard_link(name: str) -> ConflictError:
    """Return the error for a file that has a name elsewhere."""
    detail = f"{name} has a second name elsewhere on the disk (a hard link) and is not read: make a copy of it."
    return ConflictError(detail, code="hard_link")


def too_large(name: str) -> InvalidInputError:
    """Return the error for a file beyond the limit."""
    return InvalidInputError(f"{name} is larger than {MAX_BYTES // (1024 * 1024)} MB.", attr="path", code="too_large")


@contextlib.contextmanager
def notes_errors(place: str) -> Iterator[None]:
    """Raise errors of the disk as errors for callers, without any path of this machine."""
    try:
        yield
    except FileNotFoundError as error:
        raise NotFoundError(f"There is no note {place}.") from error
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO}:
            detail = f"{place} is a symbolic link, or not a file in a folder: it is not followed."
            raise ConflictError(detail, code="not_a_file") from error
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
            raise ConflictError(f"The hub has no permission for {place}.", code="no_permission") from error
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise UnavailableError(
                "The disk is full: nothing was changed.", retry_after=60, code="disk_full"
            ) from error
        raise UnavailableError("The notes cannot be reached on the disk.", code="disk_error") from error
