"""Inputs that only the tools of MCP have."""

from django.conf import settings

from apps.core.schemas.fields import StrictCharField, VisibleTextField
from apps.core.schemas.serializers import StrictSerializer

MAX_PROJECT_CHARS = 200


class CorrectionInput(StrictSerializer):
    """The new text of a memory."""

    content = VisibleTextField(max_length=settings.MEMORYHUB.max_content_chars)


class ProjectInput(StrictSerializer):
    """The project that the address of a client names; blank for none."""

    project = StrictCharField(max_length=MAX_PROJECT_CHARS, allow_blank=True)
