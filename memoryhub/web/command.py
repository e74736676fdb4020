"""The web server for the supervisor: its address and its readiness."""

import http.client
import threading

from memoryhub.config.hub import Config

WEB_STOP_SECONDS = 5.0
# For an answer that a busy machine prepares. A process that hangs is found by what it does, not by this.
PATIENT_SECONDS = 30.0
NO_ANSWER = "the web server does not answer yet"


class ReadinessQuestion:
    """GET /readyz, asked again and again in threads: a busy machine takes long to answer, and who asks has more to do.

    status: of the last answer, None before the first. text: of the last answer, or why there is none.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._thread: threading.Thread | None = None
        self.status: int | None = None
        self.text = NO_ANSWER

    def ask_again(self) -> None:
        """Ask in the background, unless the answer to the last question is still awaited."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._ask, name="readiness", daemon=True)
            self._thread.start()

    def _ask(self) -> None:
        status, self.text = ask_ready(self._config, PATIENT_SECONDS)
        self.status = status or self.status


def ask_ready(config: Config, timeout: float = 2.0) -> tuple[int | None, str]:
    """Return status and text of GET /readyz; no status without an answer within `timeout` seconds."""
    connection = http.client.HTTPConnection(local_host(config), config.port, timeout=timeout)
    try:
        connection.request("GET", "/readyz")
        response = connection.getresponse()
        return response.status, response.read(2000).decode(errors="replace")
    except (OSError, http.client.HTTPException):
        return None, NO_ANSWER
    finally:
        connection.close()


def local_host(config: Config) -> str:
    """Return the host under which this machine reaches the hub."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(config.host, config.host)  # noqa: S104


def local_url(config: Config) -> str:
    """Return the address under which a browser on this machine reaches the hub."""
    host = local_host(config)
    return f"http://[{host}]:{config.port}" if ":" in host else f"http://{host}:{config.port}"
