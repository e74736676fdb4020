"""How allauth is used here: there is no sign-up, no mail is sent, and every failure is counted."""

from typing import Any
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.stagekit import clear_login
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _

from apps.accounts.failures import account_named, client_address, record_failure, too_many_requests
from apps.core.pages.addresses import hub_address

# In a session: the digest of the password with which a sign-in began.
BEGAN_WITH = "account_began_with"


class AccountAdapter(DefaultAccountAdapter):
    """Accounts are made by owners of the hub."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": _("This name and password do not match."),
        "email_password_mismatch": _("This name and password do not match."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return that strangers cannot make accounts."""
        return False

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """Return where an account works: in the admin, or on the pages of its person."""
        return reverse("admin:index") if request.user.is_staff else "/"

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address that limits count by."""
        return client_address(request)

    def is_safe_url(self, url: str) -> bool:
        """Return whether an address is one of this hub, to which a sign-in may lead back."""
        request = context.request
        return url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure())

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Return what attempts of one account are counted by: its name, and not the Host that the client sent."""
        return f"account:{credentials.get('username', '').lower()}"

    def pre_login(self, request: HttpRequest, user: User, **hints: Any) -> HttpResponse | None:
        """Remember with which password a sign-in began: a second factor may be asked for minutes later."""
        answer: HttpResponse | None = super().pre_login(request, user, **hints)
        request.session[BEGAN_WITH] = user.get_session_auth_hash()
        return answer

    def login(self, request: HttpRequest, user: User) -> None:
        """Sign in. Raises ImmediateHttpResponse for a password that has changed since, and for an inactive account."""
        if request.session.pop(BEGAN_WITH, None) != user.get_session_auth_hash() or not user.is_active:
            clear_login(request)
            raise ImmediateHttpResponse(HttpResponseRedirect(reverse("account_login")))
        super().login(request, user)

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count an attempt. Raises ImmediateHttpResponse with 429 where there were too many."""
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError as error:
            raise ImmediateHttpResponse(too_many_requests(request)) from error

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        """Record a wrong password, or a name that no account has."""
        record_failure(request, account_named(credentials.get("username") or ""), "wrong password")


class SecondFactorAdapter(DefaultMFAAdapter):
    """What authenticator apps show."""

    def get_totp_issuer(self) -> str:
        """Return the name of the hub, with the host by which several hubs are distinguished."""
        return f"MemoryHub {urlsplit(hub_address(context.request)).netloc}"
