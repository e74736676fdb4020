"""Whose notes a call is about, and where they are."""

from django.conf import settings

from apps.core.domain.errors import ForbiddenError, NotFoundError
from apps.core.domain.scope import Access, Scope
from apps.notes.domain.names import folder_name
from apps.notes.domain.places import USERS_FOLDER
from apps.notes.files.folder import Folder


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
    """Return the folder of a user's notes."""
    if user_id == settings.MEMORYHUB.default_user:
        return Folder(settings.NOTES_DIR)
    return Folder(settings.NOTES_DIR / USERS_FOLDER / folder_name(user_id))
