"""API keys in the admin."""

from contextlib import suppress
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import action

from apps.core import services
from apps.core.admin.bars import key_bars, recent_days
from apps.core.admin.key_forms import PROPOSED_LIFE, KeyChangeForm, KeyForm, RotationForm
from apps.core.admin.kit import (
    NOTHING,
    after_dialog,
    badge_column,
    column,
    confirmation,
    found_or_404,
    moment,
    scope_in_words,
    state_columns,
)
from apps.core.admin.snippets import key_snippets
from apps.core.admin.steps import OneButton, copy_columns, make_dialog
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError, NotFoundError
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import IDENTIFIERS, Permission
from apps.core.models import ApiKey
from apps.core.pages.addresses import hub_address
from apps.core.pages.sayings import say

SHOWN_ONCE = "_shown_once"
STATES = {"valid": _("Valid"), "expired": _("Expired"), "revoked": _("Revoked")}
STATE_COLOURS = {"valid": "success", "expired": "warning", "revoked": "danger"}
SHARING = ("stopped", "reads", "shown_reads")
NEW_FIELDS = (
    (None, {"fields": ["name", "permission", "origin", "expires_at"]}),
    (
        _("Bound"),
        {
            "fields": [*IDENTIFIERS, "unbound", "confirmed"],
            "description": _(
                "A key can reach only what matches all the fields you fill in. Existing values are suggested; you "
                "can enter others."
            ),
        },
    ),
    (_("Sharing"), {"fields": ["reads"]}),
)
SHOWN_FIELDS = (
    (None, {"fields": ["name", "shown", "state_label", "permission", "origin", "bound", *SHARING]}),
    (_("Use"), {"fields": ["use", "last_used"]}),
    (_("Life"), {"fields": ["created", "created_by", "expires_at", "rotated", "previous", "revoked"]}),
)
CHANGEABLE = ("name", "expires_at", "origin", "reads", "shown_reads")
REVOKE_DIALOG = make_dialog(
    _("Revoke this key?"),
    _("Applications that use it lose access at once. This cannot be undone."),
    _("Revoke"),
)


def state_of(key: ApiKey) -> str:
    """Return one of STATES."""
    if key.revoked_at:
        return "revoked"
    return "expired" if key.expires_at and key.expires_at <= utcnow(SYSTEM_CLOCK) else "valid"


@admin.register(ApiKey)
class ApiKeyAdmin(OneButton, ModelAdmin):  # type: ignore[misc]
    """Create, change, rotate and revoke keys.

    A secret is in one answer only: that to the form which created or rotated the key.
    """

    form = KeyForm
    list_display = ["name", "state", "level", "bound", "use", "last_used", "expires", "granted", "shown", "created"]
    list_filter = ["permission", "origin", ("revoked_at", admin.EmptyFieldListFilter)]
    search_fields = ["name", "user_id", "household_id", "persona_id", "reads", "stopped_by", "shown"]
    search_help_text = _("A name, a bound, a grant, or the first characters of a key")
    actions = ["revoke"]
    actions_detail = ["rotate", "revoke_this"]
    list_fullwidth = True

    class Media:
        css = {"all": ["memoryhub/work.css"]}
        js = ["memoryhub/keys.js"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiKey]:
        keys: QuerySet[ApiKey] = super().get_queryset(request)
        return keys.prefetch_related(recent_days())

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.first_call)
        return [path("<int:pk>/first-call/", view, name="core_apikey_first_call"), *super().get_urls()]

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"expires_at": utcnow(SYSTEM_CLOCK) + PROPOSED_LIFE, **super().get_changeform_initial_data(request)}

    def get_fieldsets(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        return SHOWN_FIELDS if obj else NEW_FIELDS

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> list[str]:
        shown = [name for __, options in SHOWN_FIELDS for name in options["fields"]] if obj else []
        return [name for name in shown if name not in CHANGEABLE]

    def get_form(self, request: HttpRequest, obj: ApiKey | None = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, **({"form": KeyChangeForm} if obj else {}) | kwargs)

    state, state_label = state_columns(state_of, STATES, STATE_COLOURS)
    level = badge_column("permission", _("May"), {Permission.OPERATOR: "warning", Permission.READ: "info"})

    bound = column(_("Bound to"), lambda key: scope_in_words(key.scope) or gettext("nothing"))
    stopped = column(_("Stopped by"), lambda key: ", ".join(key.stopped_by) or NOTHING)
    granted = column(_("May also read"), lambda key: ", ".join(key.reads) or NOTHING)
    use = column(_("Use in 14 days"), lambda key: SafeString(key_bars(key).render()))
    created = column(_("Created at"), lambda key: moment(key.created_at), ordering="created_at")
    last_used = column(_("Last used at"), lambda key: moment(key.last_used_at), ordering="last_used_at")
    expires = column(
        _("Expires at"),
        lambda key: moment(key.expires_at) if key.expires_at else gettext("never"),
        ordering="expires_at",
    )
    revoked = column(
        _("Revoked at"), lambda key: moment(key.revoked_at) if key.revoked_at else NOTHING, ordering="revoked_at"
    )
    rotated = column(_("Rotated at"), lambda key: moment(key.rotated_at))
    previous = column(_("Previous secret until"), lambda key: moment(key.previous_until))

    @action(description=_("Rotate"), icon="autorenew", permissions=["rotate"], url_path="rotate")
    def rotate(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for how long the present secret works, then replace it and show the new one."""
        key = found_or_404(self.get_object(request, object_id))
        page = reverse("admin:core_apikey_change", args=[key.pk])
        form = RotationForm(request.POST if request.method == "POST" else None)
        if not form.is_valid():
            context = {"title": gettext("Rotate API key"), "opts": self.opts, "key": key, "form": form, "page": page}
            context |= self.admin_site.each_context(request)
            return TemplateResponse(request, "admin/core/apikey/rotate.html", context)
        try:
            key, secret = services.key_rotate(uuid=key.uuid, overlap=form.cleaned_data["overlap"])
        except MemoryHubError as error:
            messages.error(request, say(str(error.detail)))
            return HttpResponseRedirect(page)
        self.log_change(request, key, "Rotated.")
        return self.secret_page(request, key, secret)

    @action(description=_("Revoke"), icon="key_off", permissions=["revoke"], dialog=REVOKE_DIALOG, url_path="revoke")
    def revoke_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        """Revoke the key of the page."""
        key = found_or_404(self.get_object(request, object_id))
        try:
            services.key_revoke(uuid=key.uuid)
            self.log_change(request, key, "Revoked.")
            messages.success(request, gettext("The key is revoked: no application can use it any longer."))
        except NotFoundError:
            messages.warning(request, gettext("This key is already revoked."))
        return after_dialog(request, reverse("admin:core_apikey_change", args=[key.pk]))

    @action(description=_("Revoke the selected keys"), icon="key_off", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> TemplateResponse | None:
        valid = list(queryset.filter(revoked_at=None))
        if not valid:
            messages.warning(request, gettext("These keys are already revoked."))
            return None
        question = confirmation(
            request,
            self,
            valid,
            title=gettext("Revoke API keys"),
            question=gettext(
                "Revoke these keys? Applications that use them lose access at once. This cannot be undone."
            ),
            button=gettext("Revoke"),
        )
        if question is None:
            count = 0
            for key in valid:
                with suppress(NotFoundError):  # revoked by another request since the list was read
                    services.key_revoke(uuid=key.uuid)
                    self.log_change(request, key, "Revoked.")
                    count += 1
            said = ngettext("%(count)s key revoked.", "%(count)s keys revoked.", count)
            messages.success(request, said % {"count": count})
        return question

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        if change:
            changes = {name: getattr(obj, name) for name in form.changed_data if name != "reads"}
            shown, sent = form.grant_changes() or (None, None)
            services.key_update(
                uuid=obj.uuid, changes=changes if sent is None else changes | {"reads": sent}, shown=shown
            )
            return
        key, secret = services.key_create(
            name=obj.name,
            scope=obj.scope,
            permission=Permission(obj.permission),
            expires_at=obj.expires_at,
            reads=obj.reads,
            origin=WriteOrigin(obj.origin),
            actor=f"admin:{request.user.get_username()}",
        )
        copy_columns(key, obj)
        setattr(obj, SHOWN_ONCE, secret)

    def response_add(self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None) -> HttpResponse:
        return self.secret_page(request, obj, getattr(obj, SHOWN_ONCE))

    def secret_page(self, request: HttpRequest, key: ApiKey, secret: str) -> HttpResponse:
        """Return the page with the secret, in the answer itself: it reaches no session, message, address or log."""
        may_list = self.has_view_permission(request)
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("New secret") if key.rotated_at else gettext("New API key"),
            "opts": self.opts,
            "key": key,
            "secret": secret,
            "bound": self.bound(key),
            "granted": self.granted(key) if key.reads else None,
            "expires": self.expires(key),
            "previous": self.previous(key) if key.previous_until else None,
            "list_url": reverse("admin:core_apikey_changelist" if may_list else "admin:index"),
            "snippets": key_snippets(key, secret, hub_address(request)),
            # A rotated key may still be used with its secret before: nothing tells the two apart.
            "waits": may_list and key.rotated_at is None,
        }
        return TemplateResponse(request, "admin/core/apikey/secret.html", context)

    def first_call(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Return the part of the page of a new key that says whether it was used."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        context = {"key": found_or_404(ApiKey.objects.filter(pk=pk).first())}
        headers = {"Cache-Control": "no-store"}
        return TemplateResponse(request, "admin/core/apikey/first_call.html", context, headers=headers)

    def has_revoke_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        if object_id is not None:
            return self.has_rotate_permission(request, object_id)
        return request.user.has_perm("core.change_apikey")

    def has_rotate_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        key = self.get_object(request, str(object_id)) if object_id is not None else None
        return key is not None and self.has_change_permission(request, key)

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return (obj is None or obj.revoked_at is None) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False
