"""Pages of errors: what happened, what to do, and the id by which an operator finds the request in the log.

Within the admin they have its navigation around them, for who may use it. Everybody else, and whatever asks while
something is broken, gets a plain page that needs neither the database nor a session.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.core.request_id import NO_REQUEST, current_request_id

logger = logging.getLogger(__name__)

OF_ADMIN = ("/admin/", "/accounts/")
# When not even a template can be rendered.
LAST = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{0} | MemoryHub</title></head>'
    '<body><main id="mh-main"><h1>{0}</h1><p>{1} {2}</p><p>Request {3}</p></main></body></html>'
)


@dataclass(frozen=True)
class Way:
    """A link out of an error."""

    title: str | Promise
    link: str


@dataclass(frozen=True)
class Problem:
    """An error in words. words: what happened. advice: what to do. ways: links besides the usual one."""

    status: int
    title: str | Promise
    words: str | Promise
    advice: str | Promise
    ways: Sequence[Way] = ()


HOME = Way(_("Go to the home page"), "/")
NOT_FOUND = Problem(
    404,
    _("There is nothing here"),
    _("The address is wrong, or what was here no longer exists."),
    _("Search for it by name, or go back to the previous page."),
)
FORBIDDEN = Problem(
    403,
    _("You cannot see this"),
    _("Your account does not have this permission."),
    _("Ask an owner of this hub for a role that allows it, or sign in with another account."),
)
UNREADABLE = Problem(
    400,
    _("This request cannot be read"),
    _("The address or the form is not one that this hub knows. Nothing was changed."),
    _("Open the page again and repeat what you did."),
)
OUT_OF_DATE = Problem(
    403,
    _("This form is out of date"),
    _(
        "You opened it before you signed in or out, or your browser does not send the hub's cookie. Nothing was "
        "changed."
    ),
    _("Go back, reload the page and submit the form again."),
)
TOO_LARGE = Problem(
    413,
    _("That is too large"),
    _("The form or the file is larger than this page accepts. Nothing was changed."),
    _(
        "Send less at once, or ask who runs this hub to import it; the API has separate endpoints for large texts and "
        "imports."
    ),
)
BUSY = Problem(
    503,
    _("The hub is busy"),
    _("Too many requests are waiting. Nothing was changed."),
    _("Wait a few seconds, then reload the page."),
)
FAULT = Problem(
    500,
    _("Something went wrong here"),
    _("The hub's log says what went wrong, at the request below."),
    _("Try again. If it happens again, check the log, or give the request id to whoever runs this hub."),
)
NO_DATABASE = Problem(
    503,
    _("The database cannot be reached"),
    _("Nothing was changed. The hub goes on as soon as its database is back."),
    _("Wait a few seconds, then reload the page. /readyz says what the hub is waiting for."),
)


def problem_page(request: HttpRequest, problem: Problem, *, is_plain: bool = False) -> HttpResponse:
    """Return the page of an error, in the frame of the admin where that is its viewer's. Never raises.

    is_plain: without the frame, which asks the database.
    """
    html = None if is_plain else within_admin(request, problem)
    return HttpResponse(html or plain_page(problem), status=problem.status)


def shown(problem: Problem) -> dict[str, Any]:
    """Return what a page says of an error. request_id: none where no log names it."""
    request_id = current_request_id()
    return {"problem": problem, "title": problem.title, "request_id": "" if request_id == NO_REQUEST else request_id}


def within_admin(request: HttpRequest, problem: Problem) -> str | None:
    """Return the page with the navigation; None for others than staff, parts of pages, and where that fails."""
    user = getattr(request, "user", None)
    if not request.path.startswith(OF_ADMIN) or user is None or "HX-Request" in request.headers:
        return None
    try:
        if not (user.is_authenticated and user.is_staff and user.is_active):
            return None
        return render_to_string("admin/problem.html", {**admin.site.each_context(request), **shown(problem)}, request)
    except Exception:
        logger.exception("the page of an error has no navigation")
        return None


def plain_page(problem: Problem) -> str:
    """Return the page of an error with nothing around it, which needs no database. Never raises."""
    try:
        return render_to_string("problem.html", {**shown(problem), "ways": [*problem.ways, HOME]})
    except Exception:
        logger.exception("the page of an error could not be rendered")
        words = (str(problem.title), str(problem.words), str(problem.advice), current_request_id())
        return LAST.format(*(escape(word) for word in words))
