"""Examples of a first call with a new key, to be copied."""

import json
from dataclasses import dataclass

from django.utils.translation import gettext

from apps.core.domain.scope import Permission
from apps.core.models import ApiKey

SAVED = "The heating is serviced in October"
QUESTION = "when is the heating serviced?"


@dataclass(frozen=True)
class Snippet:
    """name: for its field. title, note: for people. text: what is copied."""

    name: str
    title: str
    text: str
    note: str = ""

    @property
    def rows(self) -> int:
        """Return how many lines it has."""
        return self.text.count("\n") + 1


def key_snippets(key: ApiKey, secret: str, base: str) -> list[Snippet]:
    """Return a call by curl and by Python that the key permits, and the settings of an MCP server. base: of the hub."""
    address = base.rstrip("/")
    whose = {} if key.user_id else {"user_id": "ana"}
    if key.permission == Permission.READ:
        path, body = "/api/semantic/search", {**whose, "query": QUESTION}
    else:
        path, body = "/api/semantic/memories", {**whose, "content": SAVED}
    return [
        Snippet("curl", "curl", curl(address + path, secret, body)),
        Snippet("python", "Python", python(address + path, secret, body)),
        Snippet(
            "mcp",
            "MCP",
            mcp(address, secret),
            gettext(
                "For the configuration of an assistant. Replace the command with your MCP server; it calls the hub "
                "with these two variables."
            ),
        ),
    ]


def curl(url: str, secret: str, body: dict[str, str]) -> str:
    """Return a call by curl."""
    return (
        f"curl -s {url} \\\n  -H 'Authorization: Bearer {secret}' \\\n"
        f"  -H 'Content-Type: application/json' \\\n  -d '{json.dumps(body)}'"
    )


def python(url: str, secret: str, body: dict[str, str]) -> str:
    """Return a call by Python, without any package."""
    return (
        "import json\nfrom urllib.request import Request, urlopen\n\n"
        f'call = Request(\n    "{url}",\n    data=json.dumps({json.dumps(body)}).encode(),\n'
        f'    headers={{"Authorization": "Bearer {secret}", "Content-Type": "application/json"}},\n)\n'
        "print(json.load(urlopen(call)))"
    )


def mcp(address: str, secret: str) -> str:
    """Return the entry of an MCP server in the configuration of an assistant."""
    server = {"command": "your-mcp-server", "env": {"MEMORYHUB_URL": address, "MEMORYHUB_API_KEY": secret}}
    return json.dumps({"mcpServers": {"memoryhub": server}}, indent=2)
