"""Whose notes a call is about, and where they are."""

import contextlib
import hashlib
import os
import secrets

from django.conf import settings

from apps.core.domain.errors import ConflictError, ForbiddenError, NotFoundError
from apps.core.domain.scope import Access, Scope
from apps.core.file_roots import own_folder
from apps.notes.domain.places import USERS_FOLDER, folder_name
from apps.notes.files.folder import Folder, notes_errors

# Beside the locks: a salt and the digest of whose notes the root of the folder has.
ROOT_OWNER = "root-owner"


class NotesOwnerError(ConflictError):
    """The root of the folder has notes of another user than MEMORYHUB_DEFAULT_USER names now."""


def owner_to_write(access: Access, user_id: str | None) -> str:
    """Return the user whose notes a call writes. Raises ForbiddenError, InvalidInputError when no one is named."""
    require_whole_person(access)
    owner = access.for_write(Scope(user_id), settings.MEMORYHUB.default_user).user_id
    assert owner is not None
    return owner


def owner_to_read(access: Access, user_id: str | None) -> str:
    """Return the user whose notes a call reads. Raises NotFoundError outside the bound of the key."""
    require_whole_person(access)
    if access.for_read(Scope(user_id)) is None:
        raise NotFoundError("There is no such note.")
    return owner_to_write(access, user_id)


def require_whole_person(access: Access) -> None:
    """Raise ForbiddenError for a key that may only see a part of a person: notes are not divided."""
    for name in ("household_id", "persona_id"):
        if getattr(access.bound, name) is not None:
            raise ForbiddenError(f"Notes belong to a person as a whole: this key is bound to a {name}.", attr=name)


def folder_of(user_id: str) -> Folder:
    """Return the folder of a user's notes. Raises UnavailableError while the folder of notes is not this hub's."""
    own_folder(settings.NOTES_DIR / USERS_FOLDER, "notes")
    if user_id == settings.MEMORYHUB.default_user:
        return root_folder(user_id)
    return Folder(settings.NOTES_DIR / USERS_FOLDER / folder_name(user_id))


def root_folder(user_id: str) -> Folder:
    """Return the root of the folder, where the default user's notes are. The first one is remembered.

    Raises NotesOwnerError where it has notes of a former default user, which would become this one's.
    """
    folder, path = Folder(settings.NOTES_DIR), settings.NOTES_LOCKS_DIR / ROOT_OWNER
    with notes_errors("the owner of notes"):
        salt, known = "", ""
        with contextlib.suppress(FileNotFoundError, ValueError):
            salt, known = path.read_text().split()
        if known == owner_digest(salt, user_id):
            return folder
        if known and folder.has_anything():
            raise NotesOwnerError(
                "The folder prompts/memory has notes of a former MEMORYHUB_DEFAULT_USER: set that user again, or move "
                "its files, all but the folder users, to the folder of that user below users."
            )
        salt = secrets.token_hex(16)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        aside = path.with_name(f"{ROOT_OWNER}.{salt}")
        aside.write_text(f"{salt} {owner_digest(salt, user_id)}")
        os.replace(aside, path)  # noqa: PTH105 - one step
    return folder


def owner_digest(salt: str, user_id: str) -> str:
    """Return a digest that says whether a user is the one that was remembered, without the id."""
    return hashlib.sha256(f"{salt}\0{user_id}".encode()).hexdigest()
