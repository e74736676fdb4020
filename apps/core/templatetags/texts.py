"""Texts in templates; every template knows these (settings.TEMPLATES)."""

from django import template
from django.utils.safestring import SafeString

from apps.core.pages.origins import origin_help, origin_words
from apps.core.pages.sayings import say
from apps.core.pages.texts import long_text

register = template.Library()
register.filter(long_text)
register.filter(origin_words)
register.filter(origin_help)


@register.filter
def pre_text(text: str) -> SafeString:
    """Render text in which every space counts; of a long one the beginning, and more of it behind a button."""
    return long_text(text, "mh-json", "pre")


@register.filter(name="say")
def say_filter(text: object) -> str:
    """Return sentences that were made or kept in English in the language of the reader."""
    return say(str(text))
