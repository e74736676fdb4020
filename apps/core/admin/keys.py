"""API keys in the admin."""

from contextlib import suppress
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.admin import ModelAdmin
from unfold.decorators import action, display

from apps.core import services
from apps.core.admin.kit import NOTHING, badge, confirmation, moment
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import IDENTIFIERS, Permission
from apps.core.models import ApiKey

SHOWN_ONCE = "_shown_once"
STATE_COLOURS = {"Valid": "success", "Expired": "warning", "Revoked": "danger"}
NEW_FIELDS = (
    (None, {"fields": ["name", "permission", "expires_at"]}),
    (
        "Bound",
        {
            "fields": list(IDENTIFIERS),
            "description": "A key reaches only what matches every field that is filled in: all, if none is.",
        },
    ),
)
SHOWN_FIELDS = (
    (None, {"fields": ["name", "shown", "state_label", "permission", "bound"]}),
    ("Life", {"fields": ["created", "created_by", "last_used", "expires", "revoked"]}),
)


class ApiKeyForm(forms.ModelForm):  # type: ignore[type-arg]
    """A new key. Its permission and bound cannot be changed later."""

    class Meta:
        model = ApiKey
        fields = ["name", "permission", "user_id", "household_id", "persona_id", "expires_at"]
        labels = {"user_id": "User", "household_id": "Household", "persona_id": "Persona"}

    def clean_expires_at(self) -> Any:
        expires_at = self.cleaned_data["expires_at"]
        if expires_at is not None and expires_at <= utcnow(SYSTEM_CLOCK):
            raise ValidationError("The expiry must lie in the future.")
        return expires_at


@admin.register(ApiKey)
class ApiKeyAdmin(ModelAdmin):  # type: ignore[misc]
    """Create and revoke keys. The secret is in one answer only: that to the form which created the key."""

    form = ApiKeyForm
    list_display = ["name", "state", "level", "bound", "shown", "last_used", "expires", "created"]
    list_filter = ["permission", ("revoked_at", admin.EmptyFieldListFilter)]
    search_fields = ["name", "user_id", "household_id", "persona_id", "shown"]
    search_help_text = "A name, a bound, or the first characters of a key"
    actions = ["revoke"]
    list_fullwidth = True

    def get_fieldsets(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        return SHOWN_FIELDS if obj else NEW_FIELDS

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> list[str]:
        return [name for _, options in SHOWN_FIELDS for name in options["fields"]] if obj else []

    @display(description="State", label=STATE_COLOURS)
    def state(self, key: ApiKey) -> str:
        if key.revoked_at:
            return "Revoked"
        return "Expired" if key.expires_at and key.expires_at <= utcnow(SYSTEM_CLOCK) else "Valid"

    @display(description="State")
    def state_label(self, key: ApiKey) -> str:
        return badge(self.state(key), STATE_COLOURS[self.state(key)])

    @display(description="May", ordering="permission", label={"Operator": "warning", "Read": "info"})
    def level(self, key: ApiKey) -> str:
        return key.get_permission_display()

    @display(description="Bound to")
    def bound(self, key: ApiKey) -> str:
        named = key.scope.named()
        return ", ".join(f"{name.removesuffix('_id')} {value}" for name, value in named.items()) or "nothing"

    @display(description="Created at", ordering="created_at")
    def created(self, key: ApiKey) -> str:
        return moment(key.created_at)

    @display(description="Last used at", ordering="last_used_at")
    def last_used(self, key: ApiKey) -> str:
        return moment(key.last_used_at)

    @display(description="Expires at", ordering="expires_at")
    def expires(self, key: ApiKey) -> str:
        return moment(key.expires_at) if key.expires_at else "never"

    @display(description="Revoked at", ordering="revoked_at")
    def revoked(self, key: ApiKey) -> str:
        return moment(key.revoked_at) if key.revoked_at else NOTHING

    @action(description="Revoke the selected keys", icon="key_off", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> TemplateResponse | None:
        valid = list(queryset.filter(revoked_at=None))
        if not valid:
            messages.warning(request, "These keys are revoked already.")
            return None
        question = confirmation(
            request,
            self,
            valid,
            title="Revoke API keys",
            question="Revoke these keys? Applications that use them lose access at once, and it cannot be undone.",
            button="Revoke",
        )
        if question is None:
            count = 0
            for key in valid:
                with suppress(NotFoundError):  # revoked by another request since the list was read
                    services.key_revoke(uuid=key.uuid)
                    self.log_change(request, key, "Revoked.")
                    count += 1
            messages.success(request, f"{count} {'key' if count == 1 else 'keys'} revoked.")
        return question

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        key, secret = services.key_create(
            name=obj.name,
            scope=obj.scope,
            permission=Permission(obj.permission),
            expires_at=obj.expires_at,
            actor=f"admin:{request.user.get_username()}",
        )
        for field in ApiKey._meta.concrete_fields:
            setattr(obj, field.attname, getattr(key, field.attname))
        setattr(obj, SHOWN_ONCE, secret)

    def response_add(self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None) -> HttpResponse:
        """Return the page with the secret, in the answer itself: it reaches no session, message, address or log."""
        may_list = self.has_view_permission(request)
        context = {
            **self.admin_site.each_context(request),
            "title": "New API key",
            "opts": self.opts,
            "key": obj,
            "secret": getattr(obj, SHOWN_ONCE),
            "bound": self.bound(obj),
            "expires": self.expires(obj),
            "list_url": reverse("admin:core_apikey_changelist" if may_list else "admin:index"),
        }
        return TemplateResponse(request, "admin/core/apikey/secret.html", context)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        buttons = {"show_save_and_add_another": False, "show_save_and_continue": False}
        return super().changeform_view(request, object_id, form_url, buttons | (extra_context or {}))

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("core.change_apikey")

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False
