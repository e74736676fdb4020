"""The door of live push for reads."""

from django.http import HttpRequest
from django.templatetags.static import static

from apps.live.process import live_process

__all__ = ["live_script"]


def live_script(request: HttpRequest) -> str:
    """Return the address of the script of live pages.

    Its fragment says what the page may do: `#socket`, or `#poll` under a server that has no sockets. Without one
    no account is signed in, and there is nothing to keep up to date.
    """
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return static("memoryhub/live.js")
    return f"{static('memoryhub/live.js')}#{'socket' if live_process().is_begun else 'poll'}"
