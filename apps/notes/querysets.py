"""Filters over versions of notes, conversations and what was learnt from them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Self

from django.db.models import Count, Q, Value
from django.db.models.functions import MD5
from django.db.models.lookups import Exact

from apps.core.db.scoped import ScopedQuerySet
from apps.core.models import LockedUser
from apps.notes.domain.places import NotePlace

if TYPE_CHECKING:
    from apps.notes.models import (  # noqa: F401
        Compaction,
        Conversation,
        ConversationMessage,
        ExtractedFact,
        ExtractionRun,
        NoteVersion,
    )


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


class ConversationQuerySet(ScopedQuerySet["Conversation"]):
    """Conversations. They belong to a person as a whole, like notes."""


class MessageQuerySet(ScopedQuerySet["ConversationMessage"]):
    """Messages of conversations, and what was recalled for them."""

    def new(self) -> Self:
        """Return the messages from which no run extracts yet."""
        return self.filter(run=None, recalled=False, cleared_at=None)


class RunQuerySet(ScopedQuerySet["ExtractionRun"]):
    """Runs of extraction."""

    def due(self, now: datetime) -> Self:
        """Return the runs that are to be begun or continued, of users who are not being forgotten."""
        due = self.filter(state__in=("waiting", "running"), next_try_at__lte=now)
        return due.exclude(user_id__in=LockedUser.objects.values("user_id"))

    def annotate_facts(self) -> Self:
        """Return the runs with how many facts they found, as `found`, and how many hold now, as `applied`."""
        applied = Count("facts", filter=Q(facts__state="applied"))
        return self.annotate(found=Count("facts"), applied=applied)


class FactQuerySet(ScopedQuerySet["ExtractedFact"]):
    """Facts that runs found."""


class CompactionQuerySet(ScopedQuerySet["Compaction"]):
    """Compactions of MEMORY.md, which have a user and no further scope."""
