"""From which pages a socket may be opened."""

import pytest

from apps.live.domain.origins import is_own_origin

TRUSTED = ["https://hub.example.org", "https://*.example.net"]


@pytest.mark.parametrize(
    ("origin", "host", "is_secure", "is_own"),
    [
        ("http://localhost:8000", "localhost:8000", False, True),
        ("https://localhost:8000", "localhost:8000", True, True),
        ("https://hub.example.org", "127.0.0.1:8000", False, True),
        ("https://a.example.net", "127.0.0.1:8000", False, True),
        # Another port is another application of the same machine.
        ("http://localhost:3000", "localhost:8000", False, False),
        ("http://localhost:8000", "localhost:8000", True, False),
        ("http://a.example.net", "127.0.0.1:8000", False, False),
        ("https://evil-example.net", "127.0.0.1:8000", False, False),
        ("https://hub.example.org.evil.org", "127.0.0.1:8000", False, False),
        ("https://evil.org", "hub.example.org", True, False),
        ("http://[", "localhost:8000", False, False),
        ("null", "localhost:8000", False, False),
        ("", "localhost:8000", False, False),
        ("http://", "", False, False),
    ],
)
def test_only_pages_of_the_hub_open_sockets(origin: str, host: str, is_secure: bool, is_own: bool) -> None:
    assert is_own_origin(origin, host, is_secure=is_secure, trusted=TRUSTED) is is_own
