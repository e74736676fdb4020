"""Differences between texts on pages of the admin."""

from collections.abc import Iterable

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

_CLASSES = {"+": "mh-diff-added", "-": "mh-diff-removed", "@": "mh-diff-hunk"}


def render_difference(lines: Iterable[str]) -> SafeString:
    """Render the lines of a unified diff; colours only repeat what the signs say."""
    rows = ((_CLASSES.get(line[:1], "mh-diff-same"), line) for line in lines)
    return format_html(
        '<div class="mh-diff" tabindex="0">{}</div>', format_html_join("", '<span class="{}">{}</span>', rows)
    )
