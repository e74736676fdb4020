"""What templates of allauth need to look like the admin."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

LOCAL = {"localhost"}


def account_pages(request: HttpRequest) -> dict[str, Any]:
    """Return the context of the admin for pages below /accounts/, and whether passkeys work at this address."""
    if not request.path.startswith("/accounts/") and request.path != reverse("admin:password_change"):
        return {}
    return {**admin.site.each_context(request), "has_passkeys": passkeys_work(request)}


def passkeys_work(request: HttpRequest) -> bool:
    """Return whether browsers offer passkeys at the address of a request: by https, and on localhost."""
    host = request.get_host().partition(":")[0]
    return request.is_secure() or host in LOCAL or host.endswith(".localhost")
