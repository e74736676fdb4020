"""Origins in words, for every page that shows what was said (DESIGN D20)."""

from collections.abc import Mapping

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from apps.core.domain.origin import WriteOrigin
from apps.core.words import Words

WORDS: Mapping[str, Words] = {
    WriteOrigin.PERSON: _("Said by a person"),
    WriteOrigin.APP: _("Saved by an application"),
    WriteOrigin.DOCUMENT: _("From a document"),
    WriteOrigin.DERIVED: _("Derived by the hub"),
}
HELP: Mapping[str, Words] = {
    WriteOrigin.PERSON: _(
        "A person said it on a page of the hub, or through a key that stands for a person. Nothing of another "
        "origin replaces it unless a person decides so."
    ),
    WriteOrigin.APP: _("An application saved it. It replaces nothing that a person said unless a person decides so."),
    WriteOrigin.DOCUMENT: _(
        "It was read in a document. It replaces nothing that a person or an application said unless a person decides "
        "so."
    ),
    WriteOrigin.DERIVED: _(
        "The hub derived it from a conversation. It replaces nothing else unless a person decides so."
    ),
}


def origin_words(origin: str) -> SafeString:
    """Render whom something comes from, with what that means as its tooltip."""
    known = WriteOrigin(origin)
    return format_html('<span class="origin" data-origin="{}" title="{}">{}</span>', known, HELP[known], WORDS[known])


def origin_explained(origin: str) -> SafeString:
    """Render whom something comes from, and under it what that means."""
    return format_html('{}<br><span class="mh-note">{}</span>', WORDS[WriteOrigin(origin)], HELP[WriteOrigin(origin)])


def origin_help(origin: str) -> str:
    """Return what an origin means, in a sentence or two."""
    return str(HELP[WriteOrigin(origin)])
