"""Embedding spaces in the admin, read only; `manage.py reembed` changes them."""

from django.contrib import admin
from unfold.admin import ModelAdmin
from unfold.decorators import display

from apps.core.admin.kit import ReadOnly, badge, moment
from apps.llm.models import EmbeddingSpace

STATE_COLOURS = {"In use": "success", "Not in use": "info"}


@admin.register(EmbeddingSpace)
class EmbeddingSpaceAdmin(ReadOnly, ModelAdmin):
    """Which models' vectors are stored, and which ones searches use."""

    list_display = ["model", "dimension", "state", "created", "activated"]
    list_filter = ["is_active"]
    list_fullwidth = True
    search_fields = ["model"]
    search_help_text = "A part of the model's name"
    fields = ["model", "dimension", "state_label", "created", "activated"]
    readonly_fields = fields

    @display(description="State", ordering="is_active", label=STATE_COLOURS)
    def state(self, space: EmbeddingSpace) -> str:
        return "In use" if space.is_active else "Not in use"

    @display(description="State")
    def state_label(self, space: EmbeddingSpace) -> str:
        return badge(self.state(space), STATE_COLOURS[self.state(space)])

    @display(description="Created at", ordering="created_at")
    def created(self, space: EmbeddingSpace) -> str:
        return moment(space.created_at)

    @display(description="In use since", ordering="activated_at")
    def activated(self, space: EmbeddingSpace) -> str:
        return moment(space.activated_at)
