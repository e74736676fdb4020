"""A whole hub, as people start it, with something on every page."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.system.browser.walk.routes import Page
from tests.system.hub import PROJECT, Hub

FILL = "from tests.system.browser.walk.world import main; main()"
# A model that is never called.
MODEL = {
    "MEMORYHUB_CHAT_PROVIDER": "openai", "MEMORYHUB_CHAT_MODEL": "gpt-5", "MEMORYHUB_CHAT_API_KEY": "sk-none",
    "MEMORYHUB_CHAT_BASE_URL": "http://127.0.0.1:9/v1", "MEMORYHUB_CHAT_DAILY_BUDGET_USD": "10",
}  # fmt: skip


@dataclass
class FilledHub:
    """A hub, its pages, and the sessions of those who look at them."""

    hub: Hub
    pages: list[Page]
    sessions: dict[str, str]

    @classmethod
    def start(cls, place: Path) -> "FilledHub":
        """Start a hub below a directory, and fill it. Raises AssertionError with what it said."""
        (place / "files").mkdir()
        hub = Hub(place / "hub", MEMORYHUB_SYNC_ROOTS=str(place / "files"), PYTHONPATH=str(PROJECT), **MODEL)
        hub.make_cluster()
        try:
            hub.start()
            done = hub.command("shell", "-v", "0", "-c", FILL)
            assert done.returncode == 0, done.stderr
        except BaseException:
            hub.end()
            raise
        world: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return cls(hub, [Page(**page) for page in world["pages"]], world["sessions"])

    @property
    def base(self) -> str:
        """Return the address of the hub."""
        return f"http://127.0.0.1:{self.hub.port}"

    def path(self, name: str, variant: str = "") -> str:
        """Return the address of the page of that name."""
        return next(page.path for page in self.pages if (page.name, page.variant) == (name, variant))

    def cookies(self, viewer: str) -> list[Any]:
        """Return the cookies of a viewer: none of one who is not signed in."""
        session = self.sessions.get(viewer)
        return [{"name": "sessionid", "value": session, "url": self.base}] if session else []

    def end(self) -> None:
        """Stop the hub."""
        self.hub.end()
