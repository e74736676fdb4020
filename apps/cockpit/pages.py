"""Pages of the cockpit: where each is, who may see it, and how it is found; one function guards them all."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import wraps
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from apps.core.admin.kit import may_view
from apps.core.bounds import is_bound
from apps.core.words import Words

View = Callable[..., HttpResponseBase]


@dataclass(frozen=True)
class Page:
    """A page or a fragment of one.

    name: of its address, which begins with `cockpit_`, such as `ask`. path: below /admin/. permissions: the viewer must
    have all of them. title, icon: how navigation and palette show it; without a title neither does. words: what else
    finds it in the palette.
    """

    name: str
    path: str
    view: View
    permissions: tuple[str, ...]
    _: KW_ONLY
    title: Words = ""
    icon: str = ""
    words: Words = ""

    def is_allowed(self, request: HttpRequest) -> bool:
        """Return whether the viewer may see the page."""
        return request.user.has_perms(self.permissions)


def guarded(page: Page) -> View:
    """Return the view of a page behind its permissions."""

    @wraps(page.view)
    def view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not page.is_allowed(request):
            raise PermissionDenied
        return page.view(request, *args, **kwargs)

    return view


def page_urls(pages: tuple[Page, ...]) -> list[URLPattern]:
    """Return the addresses of pages, each behind the sign-in of the admin and its permissions."""
    return [path(page.path, admin.site.admin_view(guarded(page)), name=f"cockpit_{page.name}") for page in pages]


def render_page(request: HttpRequest, template: str, title: str, **context: Any) -> TemplateResponse:
    """Render a whole page in the layout of the admin."""
    return TemplateResponse(request, template, {**admin.site.each_context(request), "title": title, **context})


def fragment(template: str, read: Callable[[HttpRequest], dict[str, Any]]) -> View:
    """Return the view of a part of a page that the browser fetches again. read: returns what the part shows."""
    return lambda request: render_fragment(request, template, **read(request))


def render_fragment(request: HttpRequest, template: str, **context: Any) -> TemplateResponse:
    """Render a part of a page, which the browser fetches again; it is never cached."""
    return TemplateResponse(request, template, context, headers={"Cache-Control": "no-store"})


def may_view_hub(request: HttpRequest, model: str) -> bool:
    """Return whether the viewer may view what concerns the whole hub, and belongs to no scope."""
    return not is_bound(request.user) and may_view(request, model)
