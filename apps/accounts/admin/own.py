"""Pages of one's own account that allauth has not, or has otherwise."""

from typing import Any

from allauth.account.utils import get_next_redirect_url
from allauth.account.views import password_change
from allauth.usersessions.internal.flows.sessions import end_sessions
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.shortcuts import resolve_url
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.failures import too_many_requests
from apps.accounts.middleware import no_access
from apps.accounts.services import account_show_in, sessions_end

__all__ = [
    "admin_login",
    "admin_password_change",
    "choose_language",
    "forgotten",
    "overview",
    "sessions",
    "too_many_requests",
]


def admin_login(request: HttpRequest, extra_context: object = None) -> HttpResponse:
    """Redirect to the one page to sign in, and people to their own pages; another account is shown what it lacks."""
    if not request.user.is_authenticated:
        query = QueryDict(mutable=True)
        query[REDIRECT_FIELD_NAME] = get_next_redirect_url(request) or reverse("admin:index")
        return HttpResponseRedirect(f"{resolve_url(settings.LOGIN_URL)}?{query.urlencode(safe='/')}")
    if not request.user.is_staff:
        account = getattr(request.user, "account", None)
        if account is None or not account.person_id:
            return no_access(request)
        messages.info(request, gettext("The admin is for those who run this hub. These are your own pages."))
        return HttpResponseRedirect("/")
    return HttpResponseRedirect(get_next_redirect_url(request) or reverse("admin:index"))


def admin_password_change(request: HttpRequest, extra_context: object = None) -> HttpResponseBase:
    """Answer the page to change one's password, whose attempts are limited."""
    return password_change(request)


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """Redirect to the first page of one's account."""
    return HttpResponseRedirect(reverse("mfa_index"))


@require_safe
def forgotten(request: HttpRequest) -> HttpResponse:
    """Say how to get back in: the hub sends no mail."""
    return TemplateResponse(request, "account/password_reset.html")


@never_cache
@login_required
def sessions(request: HttpRequest) -> HttpResponse:
    """List the browsers in which one is signed in; a POST signs out one of them, or all others."""
    if request.method == "POST":
        count = end_chosen(request, request.POST.get("session"))
        words = ngettext("%(count)s session was signed out.", "%(count)s sessions were signed out.", count)
        messages.success(request, words % {"count": count})
        return HttpResponseRedirect(reverse("usersessions_list"))
    found = sorted(UserSession.objects.purge_and_list(request.user), key=lambda one: one.last_seen_at, reverse=True)
    return TemplateResponse(request, "usersessions/usersession_list.html", {"sessions": found})


@require_POST
def choose_language(request: HttpRequest) -> HttpResponse:
    """Keep the language that was chosen, in a cookie and with the account, and go back. `next`: to where."""
    language, back = request.POST.get("language", ""), request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure())
    answer = HttpResponseRedirect(back if is_ours else "/")
    if language in dict(settings.LANGUAGES):
        answer.set_cookie(
            settings.LANGUAGE_COOKIE_NAME,
            language,
            max_age=settings.LANGUAGE_COOKIE_AGE,
            secure=settings.LANGUAGE_COOKIE_SECURE,
            httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
            samesite="Lax",
        )
        if request.user.is_authenticated:
            account_show_in(login=request.user, language=language)
    return answer


def end_chosen(request: HttpRequest, chosen: str | None) -> int:
    """Sign out a browser of the person, or all but this one; return how many. chosen: the key of its row."""
    user: Any = request.user
    if chosen is None:
        return sessions_end(login=user, except_key=request.session.session_key)
    rows = [one for one in UserSession.objects.filter(user=user) if str(one.pk) == chosen and not one.is_current()]
    end_sessions(request, rows)
    return len(rows)
