"""`memory-config.json`: the settings of a person, kept beside the notes and with the same care (spec 001)."""

import contextlib
import itertools
import json
import logging
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import InvalidInputError, MemoryHubError, NotFoundError, UnavailableError
from apps.notes.domain.places import CONFIG
from apps.notes.domain.settings import (
    SAFE,
    BrokenConfigError,
    ConfigProblem,
    MemoryConfig,
    differences,
    parse_config,
    parse_object,
    set_members,
)
from apps.notes.domain.text import digest
from apps.notes.files.desk import Desk, NoteChangedError
from apps.notes.files.exchange import rename_new
from apps.notes.files.folder import SETTLE_SECONDS, Folder, read_whole
from apps.notes.files.lock import notes_lock
from apps.notes.files.owner import folder_of
from apps.notes.files.versions import DISK, text_of
from apps.notes.models import ChangeKind, NoteVersion

logger = logging.getLogger(__name__)
_TRIES = 20
# So many versions are searched for valid settings.
_MAX_VERSIONS = 100
UNSETTLED = "unsettled"
_BROKEN = f"{CONFIG.name}.broken-"


@dataclass(frozen=True)
class ReadConfig:
    """Settings as they hold, and what is wrong with the file."""

    config: MemoryConfig
    problems: tuple[ConfigProblem, ...] = ()


def config_of(user_id: str) -> MemoryConfig:
    """Return the settings of a user; where the file cannot be read, the last valid ones. Never raises for the file."""
    try:
        text = folder_of(user_id).read(CONFIG)
        if text is None:
            return without_file(user_id).config
        if text.strip():
            config, problems = parse_config(text)
            if not problems:
                return config
    except (BrokenConfigError, MemoryHubError):
        pass
    try:
        return config_read(user_id).config
    except MemoryHubError:
        return former_config(user_id) or SAFE


def config_read(user_id: str, *, clock: Clock = SYSTEM_CLOCK) -> ReadConfig:
    """Return the settings of a user, with what is wrong with the file. One that is broken as a whole is set aside.

    Raises ConflictError for a file that the hub cannot read, UnavailableError.
    """
    with notes_lock(user_id):
        return look(Desk(user_id, CONFIG, DISK, utcnow(clock)))


def config_change(
    user_id: str,
    values: Mapping[str, Any],
    *,
    author: str,
    clock: Clock = SYSTEM_CLOCK,
) -> ReadConfig:
    """Set some settings, by their names in camelCase; everything else in the file stays as it was written.

    Raises ConflictError for a file that the hub cannot read, UnavailableError.
    """
    with notes_lock(user_id):
        desk = Desk(user_id, CONFIG, author, utcnow(clock))
        for _ in range(_TRIES):
            # The writer of a file that is broken and was written a moment ago may not be done.
            if any(problem.code == UNSETTLED for problem in look(desk).problems):
                detail = f"{CONFIG.name} was saved a moment ago and cannot be read as it is: try again."
                raise UnavailableError(detail, retry_after=round(SETTLE_SECONDS))
            note = desk.look()
            try:
                text = changed_text(note.text or b"", values, desk.user_id)
            except BrokenConfigError:
                continue  # an editor broke it since
            if note.text == text:
                break
            try:
                desk.write(lambda _, text=text: text, ChangeKind.EDIT, note.text)  # type: ignore[misc]
                break
            except NoteChangedError:
                continue  # an editor saved in the moment of the change, which is made to that
        else:
            raise UnavailableError("The settings keep changing while they are being saved: try again.", retry_after=1)
        return look(desk)


def changed_text(text: bytes, values: Mapping[str, Any], user_id: str) -> bytes:
    """Return the text of a file with new values in their places. Raises BrokenConfigError.

    A new file for a lost one has what held, so that changing one setting does not undo another one.
    """
    if not values:
        return text
    parse_object(text)
    plain = text.decode("utf-8-sig")
    if not plain.strip():
        held = differences(without_file(user_id).config)
        return f"{json.dumps({**held, **values}, ensure_ascii=False, indent=2)}\n".encode()
    mark = text[: len(text) - len(plain.encode())]
    return mark + set_members(plain, values).encode()


def look(desk: Desk) -> ReadConfig:
    """Return the settings of the file, which is set aside where it is broken. The lock is held."""
    for _ in range(_TRIES):
        read = look_once(desk)
        if read is not None:
            return read
    raise UnavailableError("The settings keep changing while they are being saved: try again.", retry_after=1)


def look_once(desk: Desk) -> ReadConfig | None:
    """Return the settings; None where an editor saved while a broken file was set aside."""
    try:
        text = desk.look().text
        if not (text or b"").strip():
            return without_file(desk.user_id)
        config, problems = parse_config(text or b"")
    except BrokenConfigError as error:
        return set_aside(desk, str(error), digest(text or b""))
    except InvalidInputError:  # too large for any file
        return set_aside(desk, "is too large", None)
    if problems:
        config, problems = parse_config(text or b"", former_config(desk.user_id) or SAFE)
    return ReadConfig(config, problems)


def without_file(user_id: str) -> ReadConfig:
    """Return what holds where there is no file, or nothing in it: the last valid settings, else the defaults.

    A file that was set aside and had no valid one before it leaves SAFE.
    """
    aside, former = last_set_aside(folder_of(user_id)), former_config(user_id)
    if aside is not None:
        return ReadConfig(former or SAFE, (is_aside(aside),))
    if former is None or former == MemoryConfig():
        return ReadConfig(MemoryConfig())
    detail = f"{CONFIG.name} is gone or empty: the last valid settings hold. A file with {{}} has the defaults."
    return ReadConfig(former, (ConfigProblem("missing", detail),))


def former_config(user_id: str) -> MemoryConfig | None:
    """Return the settings of the last versions that can be read; None where there is none.

    A setting that is wrong in one has the value that held before it.
    """
    texts, versions = [], NoteVersion.objects.of(user_id, CONFIG).current().order_by("-number")
    for version in versions[:_MAX_VERSIONS]:
        text = text_of(version)
        try:
            problems = parse_config(text)[1]
        except BrokenConfigError:
            continue
        if text.strip():
            texts.append(text)
            if not problems:
                break
    config: MemoryConfig | None = None
    for text in reversed(texts):
        config = parse_config(text, config or SAFE)[0]
    return config


def set_aside(desk: Desk, reason: str, expected: str | None) -> ReadConfig | None:
    """Give a broken file another name, so that it can be mended, and return the settings that hold.

    expected: the digest of its text, None for one that is too large. One that was written a moment ago stays, for its
    writer may not be done; None is returned where an editor saved another text since, which is put back.
    """
    name = f"{_BROKEN}{desk.now:%Y%m%dT%H%M%SZ}"
    with desk.folder.directory(CONFIG) as directory:
        try:
            written = os.stat(CONFIG.name, dir_fd=directory, follow_symlinks=False).st_mtime
            if abs(time.time() - written) < SETTLE_SECONDS:
                problem = ConfigProblem(UNSETTLED, f"{CONFIG.name} {reason}: the last valid settings hold.")
                return ReadConfig(former_config(desk.user_id) or SAFE, (problem,))
            name = rename_free(directory, name)
        except FileNotFoundError:
            return None
        if not has_text(directory, name, expected):
            with contextlib.suppress(FileExistsError):  # saved once more
                rename_new(directory, name, CONFIG.name)
            return None
        os.fsync(directory)
    logger.warning("%s %s: set aside as %s, the last valid settings hold", CONFIG.name, reason, name)
    return look_once(desk)


def rename_free(directory: int, name: str) -> str:
    """Rename the file of the settings to a name, or to the first with a number that is free; return it."""
    for number in itertools.count(1):
        free = name if number == 1 else f"{name}-{number}"
        with contextlib.suppress(FileExistsError):
            rename_new(directory, CONFIG.name, free)
            return free
    raise AssertionError


def has_text(directory: int, name: str, expected: str | None) -> bool:
    """Return whether a file has the text of a digest; whether it is too large where that is None."""
    try:
        return digest(read_whole(directory, name)) == expected
    except InvalidInputError:
        return expected is None


def last_set_aside(folder: Folder) -> str | None:
    """Return the name of the file that was set aside last; None where there is none."""
    try:
        with folder.directory(CONFIG) as directory:
            names = [name for name in os.listdir(directory) if name.startswith(_BROKEN)]  # noqa: PTH208 - a descriptor
    except NotFoundError:
        return None
    return max(names, default=None)


def is_aside(name: str) -> ConfigProblem:
    """Return the problem of a file that was set aside, until there is a new one."""
    detail = f"{CONFIG.name} could not be read and was set aside as {name}: the last valid settings hold."
    return ConfigProblem("set_aside", detail)
