"""What keys received as answers."""

import uuid
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

from apps.core.domain.scope import MAX_IDENTIFIER_CHARS
from apps.core.run_name import MAX_RUN_CHARS
from apps.given.domain.given import AnswerKind
from apps.given.querysets import GivenAnswerQuerySet


class GivenAnswer(models.Model):
    """What of one scope an answer gave to a key, by ids. Written by `recording`.

    An answer that gave something of several scopes has a row for each, with its uuid: so each row is seen, exported and
    forgotten like what it gave. asked: what for. app: the name of the key. run_id: as the caller named its run. Ids are
    no references: what is removed is not looked for here.
    """

    uuid = models.UUIDField(default=uuid.uuid4, editable=False)
    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS)
    household_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, blank=True, default="")
    persona_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, blank=True, default="")
    app = models.CharField(max_length=200)
    asked = models.CharField(max_length=10, choices=[(kind.value, kind.value) for kind in AnswerKind])
    run_id = models.CharField(max_length=MAX_RUN_CHARS, blank=True, default="")
    at = models.DateTimeField()
    memories = ArrayField(models.UUIDField(), default=list)
    events = ArrayField(models.UUIDField(), default=list)
    notes = ArrayField(models.TextField(), default=list)

    objects = GivenAnswerQuerySet.as_manager()

    class Meta:
        verbose_name = "given answer"
        verbose_name_plural = "given answers"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(name="given_answer_once", fields=["uuid", "user_id", "household_id", "persona_id"]),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # Those of one person, for exports and forgetting.
            models.Index(name="given_answer_user", fields=["user_id"]),
            # Those that are old.
            models.Index(name="given_answer_at", fields=["at"]),
            # Where a memory was used.
            GinIndex(name="given_answer_memories", fields=["memories"]),
        ]

    def __str__(self) -> str:
        return str(self.uuid)
