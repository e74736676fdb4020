"""The way of the README from a hub that has just started to a coding agent that remembers, as Claude Code goes it."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.system.hub import PROJECT, Hub, wait_for

pytestmark = pytest.mark.xdist_group("another hub")

README = (PROJECT / "README.md").read_text("utf-8")
MOST_COMMANDS = 4
# What Claude Code 2.1.197 was seen to send.
REVISION = "2025-11-25"
INITIALIZE = {
    "protocolVersion": REVISION,
    "capabilities": {"roots": {}, "elicitation": {}},
    "clientInfo": {"name": "claude-code", "title": "Claude Code", "version": "2.1.197"},
}
SAID = "I prefer tabs over spaces, please remember that."
VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def commands_under(heading: str) -> list[str]:
    """Return the lines of the first block below a heading of the README."""
    block = re.search(rf"^#+ {heading}\n.*?^```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert block, heading
    return block[1].strip().splitlines()


@pytest.fixture(scope="module")
def hub(make_place):
    hub = Hub(make_place() / "hub")
    hub.make_cluster()
    hub.start()
    yield hub
    hub.end()


@pytest.fixture(scope="module")
def key(hub) -> str:
    """The key that the README has one make."""
    [line, _] = commands_under("An agent that remembers")
    made = re.fullmatch(r"export MEMORYHUB_KEY=\$\(uv run manage\.py (.*)\)", line)
    assert made
    answer = hub.command(*shlex.split(made[1]))
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.strip()


@pytest.fixture(scope="module")
def environment(hub, key) -> dict[str, str]:
    """What a shell has that followed the README, and the address of this test's hub."""
    return {"PATH": os.environ["PATH"], "MEMORYHUB_KEY": key, "MEMORYHUB_URL": f"http://127.0.0.1:{hub.port}"}


def plugin() -> Path:
    """Return the folder from which the README has Claude Code started."""
    words = shlex.split(commands_under("An agent that remembers")[1])
    assert words[:2] == ["claude", "--plugin-dir"]
    return PROJECT / words[2]


class Session:
    """A session of Claude Code: its calls over MCP, and its hooks as processes."""

    def __init__(self, place: Path, name: str, environment: dict[str, str]) -> None:
        self.place, self.name, self.environment = place, name, environment
        self.folder = place / f"folder of {name}"
        self.folder.mkdir()
        self.transcript = place / f"{name}.jsonl"
        [server] = json.loads((plugin() / ".mcp.json").read_text())["mcpServers"].values()
        assert server["type"] == "http"
        self.url = self.expand(server["url"])
        headers = {name: self.expand(value) for name, value in server["headers"].items()}
        accept = {"Accept": "application/json, text/event-stream", "User-Agent": "claude-code/2.1.197 (sdk-cli)"}
        self.http = httpx2.Client(headers=headers | accept, timeout=30)

    def expand(self, text: str) -> str:
        """Put in variables as Claude Code does."""
        return VARIABLE.sub(lambda one: self.environment.get(one[1]) or one[2] or one[0], text)

    def send(self, method: str, params: Any = None, **message: Any) -> httpx2.Response:
        body = {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {}), **message}
        return self.http.post(self.url, json=body)

    def ask(self, method: str, params: Any = None) -> Any:
        answer = self.send(method, params, id=1)
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]

    def connect(self) -> None:
        """Shake hands: what both speak is a header from then on, and there is no stream to listen to."""
        assert self.ask("initialize", INITIALIZE)["protocolVersion"] == REVISION
        self.http.headers["MCP-Protocol-Version"] = REVISION
        assert self.send("notifications/initialized").status_code == 202
        assert self.http.get(self.url, headers={"Accept": "text/event-stream"}).status_code == 405

    def call(self, name: str, **arguments: Any) -> Any:
        result = self.ask("tools/call", {"name": name, "arguments": arguments})
        assert not result.get("isError"), result
        return result

    def hook(self, event: str, **given: Any) -> str:
        """Run the hook of an event as the agent does, and return what it adds to the conversation."""
        [group] = json.loads((plugin() / "hooks" / "hooks.json").read_text())["hooks"][event]
        [hook] = group["hooks"]
        told = {"session_id": self.name, "transcript_path": str(self.transcript), "cwd": str(self.folder), **given}
        answer = subprocess.run(
            ["sh", "-c", hook["command"]],
            input=json.dumps({"hook_event_name": event, **told}),
            env=self.environment
            | {"CLAUDE_PLUGIN_ROOT": str(plugin()), "MEMORYHUB_HOOKS_STATE": str(self.place / "state")},
            capture_output=True,
            text=True,
            check=True,
        )
        assert answer.stderr == ""
        output = json.loads(answer.stdout or "{}")
        return str(output.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def say(self, role: str, content: Any) -> None:
        line = {"type": role, "uuid": f"{role}-{self.name}", "timestamp": "2026-11-20T09:30:00.000Z"}
        with self.transcript.open("a") as file:
            file.write(json.dumps({**line, "message": {"role": role, "content": content}}) + "\n")


def test_the_way_has_few_commands() -> None:
    lines = [*commands_under("Start"), *commands_under("An agent that remembers")]
    assert 0 < len(lines) <= MOST_COMMANDS


def test_what_one_session_saved_the_next_one_has(tmp_path, environment) -> None:
    first = Session(tmp_path, "first", environment)
    first.connect()
    tools = {tool["name"]: tool for tool in first.ask("tools/list")["tools"]}
    assert {"context", "save", "query", "update"} <= tools.keys()
    assert first.call("save", content="The release of Atlas is on Friday.")["structuredContent"]["changed"]
    second = Session(tmp_path, "second", environment)
    second.connect()
    known = second.call("context", task="When is the release of Atlas?")
    assert "The release of Atlas is on Friday." in known["content"][0]["text"]


def test_what_was_said_in_one_session_another_folder_knows(tmp_path, environment) -> None:
    first = Session(tmp_path, "one", environment)
    assert SAID not in first.hook("SessionStart", source="startup")
    first.hook("UserPromptSubmit", prompt=SAID)
    first.say("user", SAID)
    first.say("assistant", [{"type": "text", "text": "Noted."}])
    first.hook("Stop", stop_hook_active=False)
    first.hook("SessionEnd", reason="exit")
    begun = iter(range(1_000))

    def next_session_knows() -> bool:
        """Begin a session: the worker learns from the first one in its own time."""
        session = Session(tmp_path, f"later {next(begun)}", environment)
        return "tabs over spaces" in session.hook("SessionStart", source="startup")

    wait_for(next_session_knows, "a session that knows")
    last = Session(tmp_path, "last", environment)
    assert "tabs over spaces" in last.hook("UserPromptSubmit", prompt="Do I prefer tabs or spaces?")


def test_the_key_reaches_nothing_else(hub, key) -> None:
    assert hub.get("/api/keys", key) == 403
    assert hub.get("/api/semantic/memories?user_id=ana", key) == 200
