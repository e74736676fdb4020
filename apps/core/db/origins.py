"""The column of the class of origin (DESIGN D20)."""

from __future__ import annotations

from django.db import models

from apps.core.domain.origin import MAX_ORIGIN_CHARS, WriteOrigin


class WriteOriginChoices(models.TextChoices):
    """`apps.core.domain.origin.WriteOrigin` for forms, columns and pages."""

    PERSON = WriteOrigin.PERSON, "Said by a person"
    APP = WriteOrigin.APP, "Saved by an application"
    DOCUMENT = WriteOrigin.DOCUMENT, "From a document"
    DERIVED = WriteOrigin.DERIVED, "Derived by the hub"


def origin_field(help_text: str) -> models.CharField[str, str]:
    """Return a column for an origin. The database has the default, so that adding it rewrites no row."""
    return models.CharField(
        "comes from",
        max_length=MAX_ORIGIN_CHARS,
        choices=WriteOriginChoices.choices,
        default=WriteOrigin.APP.value,
        db_default=WriteOrigin.APP.value,
        help_text=help_text,
    )
