"""The places of the web UI, in their order."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, kw_only=True)
class Place:
    """A page that the navigation leads to.

    name: of the page. icon: a symbol of `static/webui/icons.svg`. is_main: one of the five of the bar on a phone; the
    others are behind *More* there.
    """

    name: str
    title: str | Promise
    icon: str
    is_main: bool = False

    @property
    def url(self) -> str:
        """Return its address."""
        return reverse(f"webui:{self.name}")


PLACES: tuple[Place, ...] = (
    Place(name="home", title=_("Home"), icon="home", is_main=True),
    Place(name="ask", title=_("Ask"), icon="search", is_main=True),
    Place(name="clear_up", title=_("To clear up"), icon="pair", is_main=True),
    Place(name="days", title=_("My days"), icon="days", is_main=True),
    Place(name="known", title=_("Memories"), icon="list"),
    Place(name="household", title=_("Household"), icon="people"),
    Place(name="apps", title=_("Apps"), icon="apps"),
    Place(name="notes", title=_("Notes"), icon="notes"),
    Place(name="privacy", title=_("Privacy"), icon="shield"),
    Place(name="settings", title=_("Settings"), icon="settings"),
)
