"""Pages of the web UI: one table says where each is and how it is found; one function guards them all."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.cache import add_never_cache_headers, patch_vary_headers

from apps.core.pauses import pause_of
from apps.core.schemas.bodies import BodyLimit
from apps.live.selectors import live_script
from apps.people.selectors import erasure_of_login, plan_of
from apps.people.services import look_note
from apps.webui.person import Person, person_of

View = Callable[..., HttpResponseBase]


@dataclass(frozen=True)
class Page:
    """A page or a fragment of one. A view takes the request, the person, and the arguments of its address.

    name: of its address, which begins with `webui:`. path: below `/`. is_own: not for an operator who looks. is_public:
    also for strangers, by an address that cannot be guessed; its view takes no person. part_of: the page whose part it
    is, as which a look at it is noted; "" for a figure that every page shows, which is not noted. body_limit: returns
    how large a form may be, where that is more than usual.
    """

    name: str
    path: str
    view: View
    _: KW_ONLY
    is_own: bool = False
    is_public: bool = False
    part_of: str | None = None
    body_limit: Callable[[], BodyLimit] | None = None


def guarded(page: Page) -> View:
    """Return the view of a page for people alone: strangers sign in first, accounts of no person are shown why.

    What a page shows belongs to one person: no cache keeps it, neither of a proxy nor of the browser.
    """

    @wraps(page.view)
    def view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        answer = answer_of(page, request, *args, **kwargs)
        add_never_cache_headers(answer)
        patch_vary_headers(answer, ["Cookie"])
        return answer

    if page.body_limit is not None:
        vars(view)["body_limit"] = page.body_limit
    return view


def answer_of(page: Page, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
    """Return what a page answers to who asks: its person, an operator who looks, another account, a stranger."""
    if page.is_public:
        return page.view(request, *args, **kwargs)
    if not request.user.is_authenticated:
        if page.path != "":
            return redirect_to_login(request.get_full_path())
        return TemplateResponse(request, "webui/visitors.html")
    person = person_of(request)
    if person is None:
        # One whose person is being forgotten just now, and comes back with nothing, is led to how far that is.
        if (erasure := erasure_of_login(request.user.pk)) is not None:
            return HttpResponseRedirect(reverse("webui:forgotten", args=[erasure.uuid]))
        # The first page is a way to the admin, not a refusal.
        is_refused = request.path != "/"
        context = {"may_enter_admin": request.user.is_staff}
        return TemplateResponse(request, "webui/no_person.html", context, status=403 if is_refused else 200)
    if person.look is not None:
        if page.is_own or request.method not in {"GET", "HEAD"}:
            return TemplateResponse(request, "webui/looking_only.html", {"person": person}, status=403)
        if page.part_of != "":
            shown = reverse(f"webui:{page.part_of}") if page.part_of else request.path
            look_note(request, person.look, shown)
    return page.view(request, person, *args, **kwargs)


def page_urls(pages: tuple[Page, ...]) -> list[URLPattern]:
    """Return the addresses of pages, each behind its guard."""
    return [path(page.path, guarded(page), name=page.name) for page in pages]


def render_page(request: HttpRequest, person: Person, template: str, title: str, **context: Any) -> TemplateResponse:
    """Render a whole page. title: its heading."""
    planned = plan_of(person.user_id)
    frame = {
        "live_script": live_script(request),
        "planned": planned,
        "pause": pause_of(person.user_id) if planned is None else None,
    }
    return TemplateResponse(request, template, {"person": person, "title": title, **frame, **context})


def fragment(template: str, read: Callable[[Person], dict[str, Any]]) -> View:
    """Return the view of a part of a page that the browser fetches again. read: returns what the part shows."""
    return lambda request, person: render_fragment(request, person, template, **read(person))


def render_fragment(request: HttpRequest, person: Person, template: str, **context: Any) -> TemplateResponse:
    """Render a part of a page, which the browser fetches again."""
    return TemplateResponse(request, template, {"person": person, **context})
