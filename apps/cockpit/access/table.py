"""Addresses of the page of keys."""

from django.utils.translation import gettext_lazy as _

from apps.cockpit.access import views
from apps.cockpit.pages import Page

LOOK = ("core.view_apikey",)

PAGES = (
    Page(
        name="access",
        path="access/",
        view=views.access,
        permissions=LOOK,
        title=_("Access"),
        icon="key",
        words=_("keys api secret rotate revoke expiry bound use"),
    ),
    Page(name="access_keys", path="access/keys/", view=views.keys_fragment, permissions=LOOK),
)
