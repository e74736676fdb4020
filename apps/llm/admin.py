"""Embedding spaces in the admin, to look at: `manage.py reembed` changes them."""

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.decorators import display

from apps.llm.models import EmbeddingSpace

STATE_COLOURS = {"In use": "success", "Not in use": "info"}


@admin.register(EmbeddingSpace)
class EmbeddingSpaceAdmin(ModelAdmin):
    list_display = ("model", "dimension", "state", "created_at", "activated_at")
    list_filter = ("is_active",)
    list_filter_submit = True
    search_fields = ("model",)
    readonly_fields = ("model", "dimension", "is_active", "created_at", "activated_at")

    @display(description="state", ordering="is_active", label=STATE_COLOURS)
    def state(self, space: EmbeddingSpace) -> str:
        return "In use" if space.is_active else "Not in use"

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
