"""API keys in the admin."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.decorators import action, display

from apps.core import services
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Permission
from apps.core.models import ApiKey


class ApiKeyForm(forms.ModelForm):  # type: ignore[type-arg]
    """A new key. What it may do is settled when it is made."""

    class Meta:
        model = ApiKey
        fields = ["name", "permission", "user_id", "household_id", "persona_id", "expires_at"]

    def clean_expires_at(self) -> Any:
        expires_at = self.cleaned_data["expires_at"]
        if expires_at is not None and expires_at <= utcnow(SYSTEM_CLOCK):
            raise ValidationError("The expiry must lie in the future.")
        return expires_at


@admin.register(ApiKey)
class ApiKeyAdmin(ModelAdmin):  # type: ignore[misc]
    """Make and revoke keys; the secret is shown once, in the message after saving."""

    form = ApiKeyForm
    list_display = [
        "name",
        "key_state",
        "level",
        "bound",
        "shown",
        "last_used_at",
        "expires_at",
        "created_at",
    ]
    list_filter = ["permission", ("revoked_at", admin.EmptyFieldListFilter)]
    search_fields = ["name", "user_id", "household_id", "persona_id", "shown"]
    actions = ["revoke"]
    list_fullwidth = True
    fields = [
        ("name", "permission"), ("user_id", "household_id", "persona_id"), "expires_at",
    ]  # fmt: skip

    @display(description="State", label={"valid": "success", "expired": "warning", "revoked": "danger"})
    def key_state(self, key: ApiKey) -> str:
        if key.revoked_at:
            return "revoked"
        return "expired" if key.expires_at and key.expires_at <= utcnow(SYSTEM_CLOCK) else "valid"

    @display(description="May", ordering="permission", label={"Operator": "warning", "Read": "info"})
    def level(self, key: ApiKey) -> str:
        return key.get_permission_display()

    @display(description="Bound to")
    def bound(self, key: ApiKey) -> str:
        named = key.scope.named()
        return ", ".join(f"{name.removesuffix('_id')} {value}" for name, value in named.items()) or "everything"

    @action(description="Revoke the selected keys", icon="key_off")
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        valid = list(queryset.filter(revoked_at=None))
        for key in valid:
            services.key_revoke(uuid=key.uuid)
        messages.success(request, f"{len(valid)} keys revoked.")

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        try:
            key, secret = services.key_create(
                name=obj.name,
                scope=obj.scope,
                permission=Permission(obj.permission),
                expires_at=obj.expires_at,
                actor=f"admin:{request.user.get_username()}",
            )
        except MemoryHubError as error:
            raise ValidationError(error.detail) from error
        obj.pk = key.pk
        messages.warning(request, f"The key of {key.name}. Copy it now, it is not shown again: {secret}")

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False
