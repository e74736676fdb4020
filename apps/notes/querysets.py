"""Filters over versions of notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.db.models import Value
from django.db.models.functions import MD5
from django.db.models.lookups import Exact

from apps.core.db.scoped import ScopedQuerySet
from apps.notes.domain.places import NotePlace

if TYPE_CHECKING:
    from apps.notes.models import NoteVersion


class NoteVersionQuerySet(ScopedQuerySet["NoteVersion"]):
    """Versions. Notes belong to a person as a whole, so they have a user and no further scope."""

    def of(self, user_id: str, place: NotePlace) -> Self:
        """Return the versions of one note. The index has the digest of the place, which may be too long for it."""
        return self._of(user_id, str(place))

    def beside(self, version: NoteVersion) -> Self:
        """Return the versions of the note that one is of."""
        return self._of(version.user_id, version.place)

    def _of(self, user_id: str, place: str) -> Self:
        return self.filter(Exact(MD5("place"), MD5(Value(place))), user_id=user_id, place=place)

    def without_texts(self) -> Self:
        """Return them without their texts, each of which may be megabytes; they are loaded where they are used."""
        return self.defer("text", "whole")

    def current(self) -> Self:
        """Return those that the file had at some time."""
        return self.exclude(kind="kept")
