"""`memory-config.json`: the settings of a person, kept beside the notes and with the same care (spec 001)."""

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import InvalidInputError, MemoryHubError, NotFoundError, UnavailableError
from apps.core.steps import Step, no_step
from apps.notes.domain.json_members import set_members
from apps.notes.domain.places import CONFIG
from apps.notes.domain.settings import BrokenConfigError, ConfigProblem, MemoryConfig, parse_config, parse_object
from apps.notes.files.changes import Desk, NoteChangedError
from apps.notes.files.exchange import rename_new
from apps.notes.files.folder import Folder
from apps.notes.files.lock import notes_lock
from apps.notes.files.owner import folder_of
from apps.notes.files.versions import DISK
from apps.notes.models import ChangeKind

logger = logging.getLogger(__name__)
_TRIES = 20
_BROKEN = f"{CONFIG.name}.broken-"


@dataclass(frozen=True)
class ReadConfig:
    """Settings as they hold, and what is wrong with the file."""

    config: MemoryConfig
    problems: tuple[ConfigProblem, ...] = ()


def config_of(user_id: str) -> MemoryConfig:
    """Return the settings of a user; the defaults where the file cannot be read. Never raises for what is in it."""
    try:
        return parse_config(folder_of(user_id).read(CONFIG) or b"")[0]
    except (BrokenConfigError, MemoryHubError):
        pass
    try:
        return config_read(user_id).config
    except MemoryHubError:
        return MemoryConfig()


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
    step: Step = no_step,
) -> ReadConfig:
    """Set some settings, by their names in camelCase; everything else in the file stays as it was written.

    Raises ConflictError for a file that the hub cannot read, UnavailableError.
    """
    with notes_lock(user_id):
        desk = Desk(user_id, CONFIG, author, utcnow(clock), step)
        for _ in range(_TRIES):
            look(desk)
            note = desk.look()
            text = changed_text(note.text or b"", values)
            if note.text == text:
                break
            try:
                desk.write(lambda _, text=text: text, ChangeKind.EDIT, note.text)  # type: ignore[misc]
                break
            except NoteChangedError:
                continue  # an editor saved in the moment of the change, which is made to that
        else:
            raise UnavailableError("The settings are being saved by others all the time: try again.", retry_after=1)
        return look(desk)


def changed_text(text: bytes, values: Mapping[str, Any]) -> bytes:
    """Return the text of a file with new values in their places."""
    if not values:
        return text
    plain = text.decode("utf-8-sig")
    if not plain.strip():
        return f"{json.dumps(dict(values), ensure_ascii=False, indent=2)}\n".encode()
    mark = text[: len(text) - len(plain.encode())]
    return mark + set_members(plain, values).encode()


def look(desk: Desk) -> ReadConfig:
    """Return the settings of the file, which is set aside where it is broken. The lock is held."""
    try:
        note = desk.look()
        parse_object(note.text or b"")
    except BrokenConfigError as error:
        return set_aside(desk, str(error))
    except InvalidInputError:  # too large for any file
        return set_aside(desk, "is too large")
    config, problems = parse_config(note.text or b"")
    if note.text is None and (aside := last_set_aside(desk.folder)) is not None:
        problems = (*problems, is_aside(aside))
    return ReadConfig(config, problems)


def set_aside(desk: Desk, reason: str) -> ReadConfig:
    """Give a broken file another name, so that it can be mended, and return the defaults."""
    name = f"{_BROKEN}{moment_text(desk.now)}"
    with desk.folder.directory(CONFIG) as directory:
        number = 1
        while True:
            try:
                rename_new(directory, CONFIG.name, name if number == 1 else f"{name}-{number}")
                break
            except FileExistsError:
                number += 1
        os.fsync(directory)
    logger.warning("%s %s: set aside as %s, the defaults are used", CONFIG.name, reason, name)
    return look(desk)


def moment_text(now: datetime) -> str:
    """Return a moment as a part of a file name."""
    return f"{now:%Y%m%dT%H%M%SZ}"


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
    detail = f"{CONFIG.name} could not be read and was set aside as {name}: the defaults are used."
    return ConfigProblem("set_aside", detail)
