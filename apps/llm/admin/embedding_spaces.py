"""Embedding spaces in the admin, read only; `manage.py reembed` changes them."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin

from apps.core.admin.kit import ReadOnly, column, moment, state_columns
from apps.llm.models import EmbeddingSpace

# By whether a space is in use.
STATES = {True: _("In use"), False: _("Not in use")}
STATE_COLOURS = {True: "success", False: "info"}


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

    state, state_label = state_columns(lambda space: space.is_active, STATES, STATE_COLOURS, ordering="is_active")
    created = column(_("Created at"), lambda space: moment(space.created_at), ordering="created_at")
    activated = column(_("In use since"), lambda space: moment(space.activated_at), ordering="activated_at")
