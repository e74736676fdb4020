"""Changes of files as the kernel reports them (inotify): complete at the moment of the write, and read without waiting.

Where they cannot be had (another system than Linux, a network file system, a limit of the kernel), everything counts as
changed. Not reported are writes to memory-mapped files, and what another machine writes.
"""

import contextlib
import ctypes
import ctypes.util
import errno
import os
import struct
import sys
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from apps.core.per_process import PerProcess
from apps.notes.files.folder import Folder
from apps.notes.index.disk import has_note_name, is_entered, list_directories

# Folders of so many users are watched by a process at once.
MAX_FOLDERS = 512
_MODIFY, _ATTRIB, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x4, 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _UNMOUNT, _OVERFLOW, _IGNORED = 0x400, 0x800, 0x2000, 0x4000, 0x8000
_IS_DIRECTORY, _ONLY_DIRECTORY, _DONT_FOLLOW = 0x40000000, 0x1000000, 0x2000000
_WATCHED = _MODIFY | _ATTRIB | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
_EVENT = struct.Struct("iIII")
_BUFFER_BYTES = 1 << 16
# Numbers of local file systems in Linux: ext, btrfs, xfs, tmpfs, ramfs, zfs, f2fs, overlay, bcachefs.
_LOCAL = {
    0xEF53, 0x9123683E, 0x58465342, 0x01021994, 0x858458F6, 0x2FC12FC1, 0xF2F52010, 0x794C7630, 0xCA451A4E,
}  # fmt: skip


class EventsUnavailableError(Exception):
    """The kernel cannot report changes of a folder. Its text is for the operator."""


@dataclass
class Watched:
    """A folder whose changes are reported. identity: of its directory. paths: changed since they were taken."""

    identity: tuple[int, int]
    descriptors: set[int] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    is_complete: bool = True


class FolderEvents:
    """The changes in folders of notes, for one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._folders: OrderedDict[Path, Watched] = OrderedDict()
        self._owners: dict[int, tuple[Path, str]] = {}
        self._descriptor: int | None = None
        self.problem = ""

    def take(self, folder: Folder) -> set[str] | None:
        """Return the notes that have changed since the last call; None where any may have.

        After None the caller looks at all of them: changes from now on are reported.
        """
        with self._lock:
            identity = identity_of(folder.path)
            watched = self._folders.get(folder.path)
            if watched is not None and watched.identity == identity:
                self._drain()
                watched = self._folders.get(folder.path)
                if watched is not None and watched.is_complete:
                    self._folders.move_to_end(folder.path)
                    paths, watched.paths = watched.paths, set()
                    return paths
            self._release(folder.path)
            if identity is not None:
                self._begin(folder, identity)
            return None

    def forget(self, folder: Folder) -> None:
        """Have the next `take` of a folder say that any note may have changed."""
        with self._lock:
            self._release(folder.path)

    def is_watched(self, folder: Folder) -> bool:
        """Return whether the changes of a folder are reported to this process."""
        return folder.path in self._folders

    def _begin(self, folder: Folder, identity: tuple[int, int]) -> None:
        watched = Watched(identity)
        self._folders[folder.path] = watched
        try:
            require_local(folder.path)
            for directory in list_directories(folder):
                number = self._add(folder.path / directory, is_root=not directory)
                if number in self._owners and self._owners[number][0] != folder.path:
                    raise EventsUnavailableError("two users have the same folder")
                watched.descriptors.add(number)
                self._owners[number] = (folder.path, f"{directory}/" if directory else "")
            self.problem = ""
        except (EventsUnavailableError, OSError) as error:
            self.problem = str(error) if isinstance(error, EventsUnavailableError) else os.strerror(error.errno or 0)
            self._release(folder.path)
        while len(self._folders) > MAX_FOLDERS:
            self._release(next(iter(self._folders)))

    def _add(self, path: Path, *, is_root: bool) -> int:
        libc = system_library()
        if self._descriptor is None:
            self._descriptor = checked(libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        # The folder of a user may be a link, as for everything else that enters it.
        flags = _WATCHED | _ONLY_DIRECTORY | (0 if is_root else _DONT_FOLLOW)
        return checked(libc.inotify_add_watch(self._descriptor, os.fsencode(path), flags))

    def _release(self, path: Path) -> None:
        watched = self._folders.pop(path, None)
        for number in watched.descriptors if watched else ():
            if self._owners.pop(number, None) is not None and self._descriptor is not None:
                system_library().inotify_rm_watch(self._descriptor, number)

    def _drain(self) -> None:
        """Sort what the kernel has reported."""
        while self._descriptor is not None:
            try:
                data = os.read(self._descriptor, _BUFFER_BYTES)
            except BlockingIOError:
                return
            offset = 0
            while offset < len(data):
                number, mask, _, length = _EVENT.unpack_from(data, offset)
                offset += _EVENT.size
                self._sort(number, mask, os.fsdecode(data[offset : offset + length].rstrip(b"\0")))
                offset += length

    def _sort(self, number: int, mask: int, name: str) -> None:
        if mask & _OVERFLOW:
            for each in self._folders.values():
                each.is_complete = False
            return
        owner = self._owners.get(number)
        watched = self._folders.get(owner[0]) if owner else None
        if owner is None or watched is None:
            return
        path = owner[1] + name
        if mask & (_DELETE_SELF | _MOVE_SELF | _UNMOUNT | _IGNORED):
            watched.is_complete = False
        elif mask & _IS_DIRECTORY:
            if not mask & _ATTRIB or has_note_name(name):
                watched.is_complete &= not (is_entered(path, name) or has_note_name(name))
        elif has_note_name(name):
            try:
                path.encode()
                watched.paths.add(path)
            except UnicodeEncodeError:
                watched.is_complete = False


def identity_of(path: Path) -> tuple[int, int] | None:
    """Return which directory a path leads to; None where there is none."""
    with contextlib.suppress(OSError):
        status = path.stat()
        return status.st_dev, status.st_ino
    return None


def checked(result: int) -> int:
    """Return what the system answered. Raises EventsUnavailableError."""
    if result >= 0:
        return result
    number = ctypes.get_errno()
    if number in {errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM}:
        raise EventsUnavailableError("a limit of the kernel (fs.inotify) is reached")
    raise OSError(number, os.strerror(number))


_libraries: list[ctypes.CDLL] = []


def require_local(path: Path) -> None:
    """Raise EventsUnavailableError unless a folder is on a file system whose changes are all made by this kernel."""
    if not sys.platform.startswith("linux"):
        raise EventsUnavailableError("this system does not report changes of files")
    buffer = ctypes.create_string_buffer(512)
    checked(system_library().statfs(os.fsencode(path), buffer))
    kind = ctypes.c_long.from_buffer(buffer).value & 0xFFFFFFFF
    if kind not in _LOCAL:
        raise EventsUnavailableError("the notes are on a network file system, or on one that is not known")


def system_library() -> ctypes.CDLL:
    """Return the C library. Raises EventsUnavailableError where it has no inotify."""
    if not _libraries:
        library = ctypes.CDLL(ctypes.util.find_library("c") or None, use_errno=True)
        if not hasattr(library, "inotify_init1"):
            raise EventsUnavailableError("this system does not report changes of files")
        _libraries.append(library)
    return _libraries[0]


_events = PerProcess(FolderEvents)


def folder_events() -> FolderEvents:
    """Return the changes of folders that this process knows of."""
    return _events.get()
