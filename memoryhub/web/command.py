"""The web server for the supervisor: its command line, its address and its readiness."""

import http.client
import sys

from memoryhub.config.hub import Config

WEB_STOP_SECONDS = 5.0


def web_command() -> list[str]:
    """Return the command line of the web server, which reads the same environment."""
    return [sys.executable, "-m", "memoryhub.web.server"]


def ask_ready(config: Config) -> tuple[int | None, str]:
    """Return status and text of GET /readyz; no status without an answer."""
    connection = http.client.HTTPConnection(local_host(config), config.port, timeout=2)
    try:
        connection.request("GET", "/readyz")
        response = connection.getresponse()
        return response.status, response.read(2000).decode(errors="replace")
    except (OSError, http.client.HTTPException):
        return None, "the web server does not answer yet"
    finally:
        connection.close()


def local_host(config: Config) -> str:
    """Return the host under which this machine reaches the hub."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(config.host, config.host)  # noqa: S104


def local_url(config: Config) -> str:
    """Return the address under which a browser on this machine reaches the hub."""
    host = local_host(config)
    return f"http://[{host}]:{config.port}" if ":" in host else f"http://{host}:{config.port}"
