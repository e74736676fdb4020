"""Embedding spaces in the admin, read only; `manage.py reembed` changes them."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import display

from apps.core.admin.kit import ReadOnly, badge, column, moment
from apps.core.words import Words
from apps.llm.models import EmbeddingSpace

# By whether a space is in use.
STATES = {True: (_("In use"), "success"), False: (_("Not in use"), "info")}
STATE_COLOURS = {is_active: colour for is_active, (_label, colour) in STATES.items()}


@admin.register(EmbeddingSpace)
class EmbeddingSpaceAdmin(ReadOnly, ModelAdmin):
    """Which models' vectors are stored, and which ones searches use."""

    list_display = ["model", "dimension", "state", "created", "activated"]
    list_filter = ["is_active"]
    list_fullwidth = True
    search_fields = ["model"]
    search_help_text = _("Part of the model's name")
    fields = ["model", "dimension", "state_label", "created", "activated"]
    readonly_fields = fields

    @display(description=_("State"), ordering="is_active", label=STATE_COLOURS)
    def state(self, space: EmbeddingSpace) -> tuple[bool, Words]:
        return space.is_active, STATES[space.is_active][0]

    @display(description=_("State"))
    def state_label(self, space: EmbeddingSpace) -> str:
        label, colour = STATES[space.is_active]
        return badge(str(label), colour)

    created = column(_("Created at"), lambda space: moment(space.created_at), ordering="created_at")
    activated = column(_("In use since"), lambda space: moment(space.activated_at), ordering="activated_at")
