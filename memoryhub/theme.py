"""The settings of the admin's theme (django-unfold)."""

from collections.abc import Callable
from typing import Any

from django.templatetags.static import static

# Tailwind's indigo: white text on 600 has a contrast above 6 to 1.
PRIMARY = {
    "50": "oklch(96.2% .018 272.314)",
    "100": "oklch(93% .034 272.788)",
    "200": "oklch(87% .065 274.039)",
    "300": "oklch(78.5% .115 274.713)",
    "400": "oklch(67.3% .182 276.935)",
    "500": "oklch(58.5% .233 277.117)",
    "600": "oklch(51.1% .262 276.966)",
    "700": "oklch(45.7% .24 277.023)",
    "800": "oklch(39.8% .195 277.366)",
    "900": "oklch(35.9% .144 278.697)",
    "950": "oklch(25.7% .09 281.288)",
}


def _static(path: str) -> Callable[[object], str]:
    """The address of a static file, asked for with a request in hand: settings are read before it is known."""
    return lambda _request: static(path)


UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "MemoryHub",
    "SITE_HEADER": "MemoryHub",
    "SITE_SUBHEADER": "Administration",
    "SITE_URL": None,
    "SITE_ICON": _static("memoryhub/logo.svg"),
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": _static("memoryhub/logo.svg")},
    ],
    "STYLES": [_static("memoryhub/admin.css")],
    "SCRIPTS": [_static("memoryhub/admin.js")],
    "COLORS": {"primary": PRIMARY},
    "ENVIRONMENT": "memoryhub.admin.navigation.environment",
    "DASHBOARD_CALLBACK": "memoryhub.admin.dashboard.dashboard",
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_BACK_BUTTON": True,
    "SIDEBAR": {"show_search": True, "navigation": "memoryhub.admin.navigation.sidebar"},
}
