"""The look of the admin: settings of its theme, django-unfold."""

from django.templatetags.static import static
from django.utils.translation import gettext_lazy as _

# Addresses of static files are computed with a request: when settings are read they are not known yet.
UNFOLD = {
    "SITE_TITLE": "MemoryHub",
    "SITE_HEADER": "MemoryHub",
    "SITE_SUBHEADER": _("Administration"),
    "SITE_URL": None,
    "SITE_ICON": lambda _request: static("memoryhub/logo.svg"),
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda _request: static("memoryhub/logo.svg")},
    ],
    "STYLES": [
        lambda _request: static("memoryhub/admin.css"),
        lambda _request: static("memoryhub/palette.css"),
        lambda _request: static("memoryhub/live.css"),
    ],
    "SCRIPTS": [
        lambda _request: static("memoryhub/zone.js"),
        lambda _request: static("memoryhub/admin.js"),
        lambda _request: static("memoryhub/modal.js"),
        lambda _request: static("memoryhub/palette.js"),
        lambda _request: static("memoryhub/vendor/idiomorph-ext.min.js"),
        "apps.live.selectors.live_script",
    ],
    "ENVIRONMENT": "memoryhub.admin.navigation.environment",
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_BACK_BUTTON": True,
    "TABS": "memoryhub.admin.navigation.tabs",
    "SIDEBAR": {"show_search": True, "command_search": True, "navigation": "memoryhub.admin.navigation.sidebar"},
}
