"""The admin pages of accounts and groups: role, bound, second factor, sessions, and helping people back in."""

from collections.abc import Callable
from typing import Any

from allauth.account.internal.flows.reauthentication import (
    is_reauthentication_required,
    raise_if_reauthentication_required,
)
from allauth.account.models import EmailAddress, EmailConfirmation
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin as BaseGroupAdmin
from django.contrib.auth.admin import UserAdmin as BaseUserAdmin
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import action, display
from unfold.forms import AdminPasswordChangeForm

from apps.accounts import services
from apps.accounts.admin.people_forms import (
    AccountChangeForm,
    AccountCreationForm,
    PermissionWords,
    role_names,
    say_permission,
)
from apps.accounts.roles import may_give
from apps.accounts.selectors import second_factors
from apps.core.admin.kit import (
    NOTHING,
    column,
    found_or_404,
    moment_column,
    plain_text,
    required_permission,
    scope_in_words,
)
from apps.core.pages.addresses import hub_address
from apps.core.words import Words

# Secrets of second factors and keys of sessions are shown on no page.
for model in (User, Group, EmailAddress, EmailConfirmation, Authenticator, UserSession):
    if admin.site.is_registered(model):
        admin.site.unregister(model)

# What a stolen password would open; roles have their own names.
SUPERUSER, OWN_PERMISSIONS, NO_ACCESS = "Superuser", "Own permissions", "No access"
ROLE_COLOURS = {SUPERUSER: "warning", "Owner": "warning", "Operator": "info", NO_ACCESS: "danger"}
ROLE_WORDS = {SUPERUSER: _("Superuser"), OWN_PERMISSIONS: _("Own permissions"), NO_ACCESS: _("No access")}
FACTORS = {"yes": _("yes"), "none": _("none"), "unset": _("not set up")}
FACTOR_COLOURS = {"yes": "success", "none": "danger", "unset": None}
BOUND = (
    _("Bound"),
    {
        "fields": [("user_id", "household_id", "persona_id"), "reads"],
        "description": _(
            "The account sees only memories, conflicts and events that match every filled-in field, and nothing "
            "else in the hub. Leave blank for everything that the role allows."
        ),
    },
)
Step = Callable[[User], str]
# A longer number may not fit the column.
MAX_PK_DIGITS = 10


def role_of(user: User) -> str:
    """Return what an account may do: the name of a role, or one of ROLE_WORDS."""
    if user.is_superuser:
        return SUPERUSER
    groups = {group.name for group in user.groups.all()}
    found = next((name for name in role_names() if name in groups), None)
    return found or (OWN_PERMISSIONS if user.is_staff else NO_ACCESS)


def say_role(role: str) -> str:
    """Return what an account may do in the language of the reader."""
    return str(ROLE_WORDS[role]) if role in ROLE_WORDS else gettext(role)


def bound_of(user: User) -> str:
    """Return what an account is bound to."""
    account = getattr(user, "account", None)
    return (scope_in_words(account.scope) if account else "") or gettext("everything")


def has_powers(user: User) -> bool:
    """Return whether a stolen password of the account would open the whole hub."""
    return role_of(user) in {SUPERUSER, "Owner", "Operator"}


class GroupFilter(admin.SimpleListFilter):
    """Filter by group; those of the roles are named in the language of the reader."""

    title, parameter_name = _("group"), "groups__id__exact"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        roles = role_names()
        groups = Group.objects.order_by("name").values_list("pk", "name")
        return [(str(pk), gettext(name) if name in roles else name) for pk, name in groups]

    def queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> QuerySet[User]:
        value = self.value() or ""
        return queryset.filter(groups=int(value)) if value.isdecimal() and len(value) < MAX_PK_DIGITS else queryset


@admin.register(User)
class AccountAdmin(PermissionWords, BaseUserAdmin, ModelAdmin):
    """People who may sign in here. Applications use API keys."""

    form = AccountChangeForm
    add_form = AccountCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ["username", "role_shown", "bound_shown", "second_factor", "session_count", "signed_in", "is_active"]
    list_filter = ["is_active", "is_superuser", GroupFilter]
    list_filter_submit = True
    list_fullwidth = True
    search_fields = ["username", "first_name", "last_name", "account__user_id", "account__household_id"]
    search_help_text = _("Part of a name or a bound")
    readonly_fields = ["second_factor_shown", "session_count", "signed_in", "joined"]
    actions_detail = ["password_link", "reset_second_factor", "sign_out_everywhere"]
    add_fieldsets = [
        (None, {"fields": ["username", "usable_password", "password1", "password2"]}),
        (_("Role"), {"fields": ["role"]}),
        BOUND,
    ]

    role_shown = column(_("Role"), lambda user: (role_of(user), say_role(role_of(user))), colours=ROLE_COLOURS)
    bound_shown = column(_("Bound to"), bound_of)
    signed_in = moment_column("last_login", _("Last signed in at"), ordering="last_login")
    joined = moment_column("date_joined", _("Made at"))

    @display(description=_("Second factor"), label=FACTOR_COLOURS)
    def second_factor(self, user: Any) -> tuple[str, Words]:
        state = "yes" if user.has_second_factor else "none" if has_powers(user) else "unset"
        return state, FACTORS[state]

    @display(description=_("Second factor"))
    def second_factor_shown(self, user: User) -> str:
        found = second_factors(user.pk)
        if found:
            names = gettext(" or ").join(found)
            return gettext("Signing in needs %(factors)s.") % {"factors": names}
        hint = gettext("This account can do a lot: ask its user to set one up, under their own account.")
        return f"{gettext('None: the password is enough.')} {hint if has_powers(user) else ''}"

    @display(description=_("Signed-in browsers"))
    def session_count(self, user: Any) -> str:
        count = user.sessions_now
        return ngettext("%(count)s browser", "%(count)s browsers", count) % {"count": count} if count else NOTHING

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        users: QuerySet[User] = super().get_queryset(request)
        factors = Authenticator.objects.filter(user=OuterRef("pk")).exclude(type=Authenticator.Type.RECOVERY_CODES)
        return (
            users.select_related("account")
            .prefetch_related("groups")
            .annotate(has_second_factor=Exists(factors), sessions_now=Count("usersession", distinct=True))
        )

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        if obj is None:
            return self.add_fieldsets
        more = ["groups", "user_permissions", "is_superuser"] if request.user.is_superuser else ["groups"]
        return [
            (None, {"fields": ["username", "password", "is_active", ("first_name", "last_name")]}),
            (gettext("Role"), {"fields": ["role"]}),
            BOUND,
            (gettext("Sign-in"), {"fields": ["second_factor_shown", ("session_count", "signed_in", "joined")]}),
            (gettext("More permissions"), {"fields": more, "classes": ["collapse"]}),
        ]

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Save the role and the bound by the services. Raises PermissionDenied for more than the viewer has."""
        super().save_related(request, form, formsets, change)
        data = form.cleaned_data
        services.account_set_role(login=form.instance, role=data["role"])
        services.account_bind(login=form.instance, scope=form.scope(), reads=data["reads"])
        if not may_give(request.user, form.instance):
            raise PermissionDenied

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Return whether the account may be changed: by those that have all that it has."""
        return bool(super().has_change_permission(request, obj)) and (obj is None or may_give(request.user, obj))

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Return whether the account may be deleted; the one in use is kept."""
        if obj is not None and (obj == request.user or not may_give(request.user, obj)):
            return False
        return bool(super().has_delete_permission(request, obj))

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:  # noqa: A002
        """Set a password, once the viewer has proved who they are; what was typed before that is kept nowhere."""
        if is_reauthentication_required(request, app="allauth.mfa") and request.method == "POST":
            return HttpResponseRedirect(request.path)
        raise_if_reauthentication_required(request, app="allauth.mfa")
        former = request.session.session_key
        answer: HttpResponse = super().user_change_password(request, id, form_url)
        if request.session.session_key != former:  # the viewer's own password
            UserSession.objects.filter(session_key=former).delete()
            UserSession.objects.create_from_request(request)
        return answer

    # Helping people back in

    @action(description=_("Link to choose a password"), icon="link", permissions=["help"], url_path="password-link")
    def password_link(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask, then show a link by which the person chooses a password."""
        user = self.account_for_step(request, object_id)
        page = reverse("admin:auth_user_change", args=[user.pk])
        if request.method != "POST":
            return self.question(
                request,
                user,
                title=gettext("Make a link for %(name)s?") % {"name": user.username},
                text=gettext(
                    "The person uses it to choose a password. It works once, within a day, until they have signed "
                    "in. Send it in a way that only they can read; a second factor is still required."
                ),
                button=gettext("Make the link"),
            )
        url = hub_address(request) + services.password_link(login=user)
        self.log_change(request, user, "Made a link to choose a password.")
        context = {
            "title": gettext("Link to choose a password"),
            "opts": self.opts,
            "account": user,
            "url": url,
            "page": page,
        }
        return TemplateResponse(request, "accounts/link.html", {**self.admin_site.each_context(request), **context})

    @action(
        description=_("Remove second factor"), icon="phonelink_erase", permissions=["help"], url_path="second-factor"
    )
    def reset_second_factor(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask, then remove all second factors of an account whose person lost them."""
        return self.take_step(
            request,
            object_id,
            lambda user: (
                gettext("%(count)s removed, and all sessions are signed out.")
                % {"count": services.second_factor_reset(login=user)}
            ),
            title=gettext("Remove the second factor of %(name)s?"),
            text=gettext(
                "The authenticator app, passkeys and recovery codes of this account stop working, and it is signed "
                "out everywhere. After that the password is enough to sign in, until its user sets up a second "
                "factor again."
            ),
            button=gettext("Remove"),
            logged="Remove",
        )

    @action(description=_("Sign out everywhere"), icon="logout", permissions=["help"], url_path="sign-out")
    def sign_out_everywhere(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask, then end all sessions of an account."""
        return self.take_step(
            request,
            object_id,
            lambda user: gettext("%(count)s signed out.") % {"count": services.sessions_end(login=user)},
            title=gettext("Sign %(name)s out everywhere?"),
            text=gettext("Every browser where this account is signed in has to sign in again."),
            button=gettext("Sign out"),
            logged="Sign out",
        )

    def account_for_step(self, request: HttpRequest, object_id: str) -> User:
        """Return the account of a step. Raises ReauthenticationRequired until the viewer has proved who they are."""
        raise_if_reauthentication_required(request, app="allauth.mfa")
        user: User = found_or_404(self.get_object(request, object_id))
        if not self.has_change_permission(request, user):
            raise PermissionDenied
        return user

    has_help_permission = required_permission("auth.change_user")

    def take_step(self, request: HttpRequest, object_id: str, step: Step, *, logged: str, **words: str) -> HttpResponse:
        """Ask with some words, and take a step once that was confirmed. logged: what the admin's log keeps."""
        user = self.account_for_step(request, object_id)
        title = words.pop("title") % {"name": user.username}
        if request.method != "POST":
            return self.question(request, user, title=title, **words)
        done = step(user)
        self.log_change(request, user, logged)
        messages.success(request, f"{user.username}: {done}")
        return HttpResponseRedirect(reverse("admin:auth_user_change", args=[user.pk]))

    def question(self, request: HttpRequest, user: User, **words: str) -> HttpResponse:
        """Render the question before a step."""
        page = reverse("admin:auth_user_change", args=[user.pk])
        context = {**self.admin_site.each_context(request), "opts": self.opts, "page": page, **words}
        return TemplateResponse(request, "accounts/question.html", context)


@admin.register(Group)
class GroupAdmin(PermissionWords, BaseGroupAdmin, ModelAdmin):
    """Permissions that several people share. Those of the roles are set by the hub."""

    list_display = ["shown_name", "kind"]
    readonly_fields = ["shown_name", "permission_list"]

    shown_name = column(
        _("Name"), lambda group: gettext(group.name) if group.name in role_names() else group.name, ordering="name"
    )

    permission_list = column(
        _("Permissions"),
        lambda group: plain_text("\n".join(map(say_permission, group.permissions.select_related("content_type")))),
    )
    kind = column("", lambda group: gettext("role of the hub") if group.name in role_names() else gettext("your own"))

    def get_fields(self, request: HttpRequest, obj: Group | None = None) -> Any:
        """Return the fields of a form, or those that only show a group."""
        may_edit = obj is None or self.has_change_permission(request, obj)
        return ["name", "permissions"] if may_edit else ["shown_name", "permission_list"]

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """Return whether the group may be changed; roles are what the hub makes them."""
        return bool(super().has_change_permission(request, obj)) and may_touch(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """Return whether the group may be deleted; roles may not."""
        return bool(super().has_delete_permission(request, obj)) and may_touch(request, obj)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Save the permissions. Raises PermissionDenied for more than the viewer has."""
        super().save_related(request, form, formsets, change)
        if not may_give(request.user, form.instance):
            raise PermissionDenied


def may_touch(request: HttpRequest, group: Group | None) -> bool:
    """Return whether a group is no role, and has nothing that the viewer has not."""
    return group is None or (group.name not in role_names() and may_give(request.user, group))
