"""Columns for the offsets of moments (`core.domain.offsets`): PostgreSQL keeps the instant of a moment only."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from django.db import models

from apps.core.domain.offsets import in_offset, offset_minutes

if TYPE_CHECKING:
    Column = models.SmallIntegerField[int, int]
else:
    Column = models.SmallIntegerField


class OffsetField(Column):
    """The offset of another field, in minutes, whatever is written of that one. moment: its name."""

    def __init__(self, *args: Any, moment: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **{"default": 0, "db_default": 0, "editable": False, **kwargs})
        self.moment = moment

    def deconstruct(self) -> tuple[str, str, Sequence[Any], dict[str, Any]]:
        """Return a plain column: migrations know no more of it."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.SmallIntegerField", list(args), kwargs

    def pre_save(self, model_instance: models.Model, add: bool) -> int:
        """Return what is written."""
        minutes = offset_minutes(getattr(model_instance, self.moment))
        setattr(model_instance, self.attname, minutes)
        return minutes


class WithOffset(models.Model):
    """A row with a moment that keeps the offset of its writer. OFFSET: the field of the moment, and its OffsetField."""

    OFFSET: ClassVar[tuple[str, str]]

    class Meta:
        abstract = True

    @classmethod
    def from_db(cls, db: str | None, field_names: Collection[str], values: Collection[Any], **kwargs: Any) -> Self:
        """Return a row as it was read, with its moment in the offset of its writer."""
        row = super().from_db(db, field_names, values, **kwargs)
        cls.restore_offset(row.__dict__)
        return row

    @classmethod
    def restore_offset(cls, columns: dict[str, Any]) -> None:
        """Set the moment among the values of a row as they were read. Without the column of the offset it stays UTC."""
        moment, minutes = columns.get(cls.OFFSET[0]), columns.get(cls.OFFSET[1])
        if minutes and moment is not None:
            columns[cls.OFFSET[0]] = in_offset(moment, minutes)
