"""The look of the admin: settings of its theme, django-unfold."""

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
# Addresses of static files are computed with a request: when settings are read they are not known yet.
UNFOLD = {
    "SITE_TITLE": "MemoryHub",
    "SITE_HEADER": "MemoryHub",
    "SITE_SUBHEADER": "Administration",
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
        lambda _request: static("memoryhub/admin.js"),
        lambda _request: static("memoryhub/palette.js"),
        lambda _request: static("memoryhub/vendor/idiomorph-ext.min.js"),
        "apps.live.selectors.live_script",
    ],
    "COLORS": {"primary": PRIMARY},
    "ENVIRONMENT": "memoryhub.admin.navigation.environment",
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_BACK_BUTTON": True,
    "SIDEBAR": {"show_search": True, "command_search": True, "navigation": "memoryhub.admin.navigation.sidebar"},
}
