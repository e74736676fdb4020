"""Exchanging two files in one step: what an editor saved a moment before is in our hands then, not gone."""

import ctypes
import errno
import os
import sys
from functools import cache
from typing import Any

_EXCHANGE, _NO_REPLACE = 2, 1
_DARWIN_SWAP, _DARWIN_EXCLUSIVE = 2, 4
# What file systems and kernels answer that cannot do it.
_UNSUPPORTED = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


class ExchangeUnsupportedError(Exception):
    """The file system cannot exchange two files in one step."""


@cache
def rename_call() -> Any:
    """Return the function of the C library that renames with flags; None where it has none."""
    library = ctypes.CDLL(None, use_errno=True)
    return getattr(library, "renameatx_np" if sys.platform == "darwin" else "renameat2", None)


def exchange(directory: int, first: str, second: str) -> None:
    """Exchange two files of an open directory. Raises OSError, ExchangeUnsupportedError."""
    _rename(directory, first, second, _DARWIN_SWAP if sys.platform == "darwin" else _EXCHANGE)


def rename_new(directory: int, source: str, target: str, target_directory: int | None = None) -> None:
    """Rename a file of an open directory to a name that nothing has. Raises FileExistsError, OSError."""
    to = directory if target_directory is None else target_directory
    try:
        _rename(directory, source, target, _DARWIN_EXCLUSIVE if sys.platform == "darwin" else _NO_REPLACE, to)
    except ExchangeUnsupportedError:
        os.link(source, target, src_dir_fd=directory, dst_dir_fd=to, follow_symlinks=False)
        os.unlink(source, dir_fd=directory)


def _rename(directory: int, source: str, target: str, flags: int, to: int | None = None) -> None:
    call = rename_call()
    if call is None:
        raise ExchangeUnsupportedError
    to = directory if to is None else to
    if call(directory, os.fsencode(source), to, os.fsencode(target), flags) == 0:
        return
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        raise ExchangeUnsupportedError
    raise OSError(number, os.strerror(number), target)
