"""The admin pages of users and groups, in the style of the others."""

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as BaseGroupAdmin
from django.contrib.auth.admin import UserAdmin as BaseUserAdmin
from django.contrib.auth.models import Group, User
from unfold.admin import ModelAdmin
from unfold.decorators import display
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from apps.core.admin.kit import moment

for model in (User, Group):
    admin.site.unregister(model)


@admin.register(User)
class UserAdmin(BaseUserAdmin, ModelAdmin):
    """People who may log in here. Applications use API keys."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ["username", "email", "role", "is_active", "logged_in"]
    list_filter_submit = True
    list_fullwidth = True

    @display(description="Role", label={"Superuser": "warning", "Staff": "info"})
    def role(self, user: User) -> str:
        if user.is_superuser:
            return "Superuser"
        return "Staff" if user.is_staff else "No access"

    @display(description="Last logged in at", ordering="last_login")
    def logged_in(self, user: User) -> str:
        return moment(user.last_login)


@admin.register(Group)
class GroupAdmin(BaseGroupAdmin, ModelAdmin):
    """Permissions that several people share."""
