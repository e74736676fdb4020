"""The page of an account that may not see anything yet."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from apps.accounts.roles import all_roles


def has_any_access(user: Any) -> bool:
    """Return whether there is any page of the admin that an account may see."""
    return bool(user.is_superuser or user.get_all_permissions())


def no_access(request: HttpRequest) -> HttpResponse:
    """Answer 403 with a page that says why, and what to ask for."""
    context = {**admin.site.each_context(request), "title": _("No access yet"), "roles": all_roles()}
    return TemplateResponse(request, "accounts/no_access.html", context, status=403)
