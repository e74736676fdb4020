"""Whole addresses of the hub, for links that people send on and programs keep."""

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port, validate_host

LOCAL = {"127.0.0.1", "::1", "0.0.0.0", "::"}  # noqa: S104  (addresses to listen on)
ANY = "*"


def hub_address(request: HttpRequest) -> str:
    """Return the address of the hub, without a slash at its end.

    That is MEMORYHUB_PUBLIC_URL. Without it: where the hub was asked, if settings name that host, else on its machine.
    A Host header is what a client says: settings that allow any (`*`) let it in, and it is in no address.
    """
    return settings.MEMORYHUB.public_url or asked_address(request)


def asked_address(request: HttpRequest) -> str:
    """Return the address at which the hub was asked, for links that are followed at once; `hub_address` if unnamed."""
    host = request.get_host()
    named = [one for one in settings.ALLOWED_HOSTS if one != ANY]
    if validate_host(split_domain_port(host)[0], named):
        return f"{request.scheme}://{host}"
    return settings.MEMORYHUB.public_url or machine_address()


def machine_address() -> str:
    """Return the address of the hub on its machine, or where it listens."""
    config = settings.MEMORYHUB
    host = "localhost" if config.host in LOCAL else config.host
    return f"http://[{host}]:{config.port}" if ":" in host else f"http://{host}:{config.port}"
