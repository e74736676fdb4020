"""Where a request comes from."""

import ipaddress

from django.http import HttpRequest

UNKNOWN = "0.0.0.0"  # noqa: S104  (no address to listen on, but one that says that it is not known)


def client_address(request: HttpRequest) -> str:
    """Return the address of the client; UNKNOWN where the server names none.

    Behind a proxy the web server has put the address of the client there, if MEMORYHUB_PUBLIC_URL is https and the
    proxy is one that FORWARDED_ALLOW_IPS names. No header counts otherwise. A client by IPv4 has its own address also
    where the server listens by IPv6, which writes it as `::ffff:192.0.2.7`: limits count the first half of those.
    """
    try:
        address = ipaddress.ip_address(request.META.get("REMOTE_ADDR") or UNKNOWN)
    except ValueError:
        return UNKNOWN
    return str(getattr(address, "ipv4_mapped", None) or address)
