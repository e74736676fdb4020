"""Hooks of coding agents as real processes, with recorded inputs, against a hub with a real HTTP server."""

import ast
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from apps.notes.models import ConversationMessage
from apps.notes.services import runs_continue
from memoryhub_client import Client

ROOT = Path(__file__).parents[3] / "integrations"
CLAUDE, CODEX = (ROOT / agent / "hooks" / "memoryhub_hook.py" for agent in ("claude-code", "codex"))
DOWN = "http://127.0.0.1:9"
LOST = {"systemMessage": "MemoryHub did not answer: nothing was recalled this time."}
pytestmark = pytest.mark.django_db(transaction=True)


class Agent:
    """A session of a coding agent that runs its hooks."""

    def __init__(self, place: Path, url: str, key: str, session: str = "s-1", script: Path = CLAUDE) -> None:
        self.place, self.session, self.script = place, session, script
        self.environment = {
            "PATH": os.environ["PATH"],
            "MEMORYHUB_URL": url,
            "MEMORYHUB_KEY": key,
            "MEMORYHUB_HOOKS_STATE": str(place / "state"),
        }
        self.transcript: Path | None = place / f"{session}.jsonl"
        self.repository = place / "atlas"
        (self.repository / ".git").mkdir(parents=True, exist_ok=True)

    def begin(self, hook: str, **given: Any) -> subprocess.Popen[bytes]:
        path = str(self.transcript) if self.transcript else None
        event = {"session_id": self.session, "transcript_path": path, "cwd": str(self.repository), **given}
        started = subprocess.Popen(
            [sys.executable, str(self.script), hook],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
        )
        assert started.stdin
        started.stdin.write(json.dumps(event).encode())
        started.stdin.close()
        return started

    def run(self, hook: str, **given: Any) -> Any:
        return ended(self.begin(hook, **given))

    def say(self, role: str, content: Any, **entry: Any) -> None:
        assert self.transcript
        with self.transcript.open("a") as file:
            number = sum(1 for _ in self.transcript.open())
            line = {"type": role, "uuid": f"{self.session}-{number}", "timestamp": "2026-11-20T09:30:00.000Z"}
            file.write(json.dumps({**line, "message": {"role": role, "content": content}, **entry}) + "\n")


def ended(process: subprocess.Popen[bytes]) -> Any:
    """What a hook has printed, None for nothing; it must have ended well, and without a word of error."""
    assert process.stdout
    assert process.stderr
    output, errors = process.stdout.read(), process.stderr.read()
    assert (process.wait(10), errors) == (0, b"")
    return json.loads(output) if output else None


def added(output: Any) -> str:
    return str(output["hookSpecificOutput"]["additionalContext"])


def kept() -> list[tuple[str, str]]:
    rows = ConversationMessage.objects.filter(recalled=False).order_by("pk")
    return list(rows.values_list("role", "content"))


@contextmanager
def silent_server() -> Iterator[str]:
    """A server that takes connections, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_what_one_session_said_the_next_one_knows(tmp_path: Path, url: str, key: str) -> None:
    first = Agent(tmp_path, url, key)
    first.run("start", source="startup")
    first.run("prompt", prompt="I prefer tabs over spaces, please remember that.")
    first.say("user", "I prefer tabs over spaces, please remember that.")
    first.say("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Noted."}])
    first.say("assistant", [{"type": "tool_use", "name": "Bash", "input": {}}])
    first.say("user", [{"type": "tool_result", "content": "secret output"}])
    first.say("user", "<command-name>/cost</command-name>")
    first.say("user", "a note of a program", isMeta=True)
    first.say("assistant", [{"type": "text", "text": "of another agent"}], isSidechain=True)
    assert first.run("stop") is None
    said = [("user", "I prefer tabs over spaces, please remember that."), ("assistant", "Noted.")]
    assert kept() == said
    first.run("stop")
    assert kept() == said
    first.run("end", reason="exit")
    runs_continue()

    second = Agent(tmp_path, url, key, "s-2")
    known = added(second.run("start", source="startup"))
    assert "tabs over spaces" in known
    assert len(known) <= 9_000
    recalled = added(second.run("prompt", prompt="Do I prefer tabs or spaces?"))
    assert "tabs over spaces" in recalled
    second.say("user", f"{recalled}\nDo I prefer tabs or spaces?")
    second.say("assistant", [{"type": "text", "text": "You prefer tabs over spaces."}])
    second.run("stop")
    assert kept()[2:] == [("user", "Do I prefer tabs or spaces?"), ("assistant", "You prefer tabs over spaces.")]
    second.run("end")
    with Client(url, key) as hub:
        before = hub.search("tabs spaces")["count"]
        runs_continue()
        assert hub.search("tabs spaces")["count"] == before == 1


def test_a_hub_that_is_down_costs_nothing_but_memory(tmp_path: Path, url: str, key: str) -> None:
    agent = Agent(tmp_path, DOWN, key)
    running = [agent.begin("start"), agent.begin("prompt", prompt="Where does Ana live?")]
    assert [ended(one) for one in running] == [LOST, LOST]
    agent.say("user", "Ana lives in Lisbon now.")
    assert [agent.run(hook) for hook in ("stop", "flush", "end")] == [None] * 3
    assert kept() == []
    Agent(tmp_path, url, key, "s-2").run("start")
    assert kept() == [("user", "Ana lives in Lisbon now.")]


def test_a_lost_answer_saves_nothing_twice(tmp_path: Path, url: str, key: str) -> None:
    agent = Agent(tmp_path, url, key)
    agent.say("user", "Ana lives in Lisbon now.")
    agent.run("stop")
    [state] = (tmp_path / "state").iterdir()
    # The hub or the hook was killed before the cursor was written.
    state.write_text(json.dumps({**json.loads(state.read_text()), "cursor": 0}))
    agent.run("stop")
    assert kept() == [("user", "Ana lives in Lisbon now.")]


def test_a_hub_that_hangs_is_left_in_time(tmp_path: Path, key: str) -> None:
    with silent_server() as url:
        limits = {"start": 2.0, "prompt": 2.0, "stop": 2.0, "flush": 1.0, "end": 1.0}
        agents = {hook: Agent(tmp_path / hook, url, key) for hook in limits}
        began = time.monotonic()
        running = {}
        for hook, agent in agents.items():
            agent.say("user", "Ana lives in Lisbon now.")
            running[hook] = agent.begin(hook, prompt="Where does Ana live?")
        for hook, limit in sorted(limits.items(), key=lambda one: one[1]):
            assert ended(running[hook]) == (LOST if hook in {"start", "prompt"} else None)
            # Python starts five times at once, on a machine that is busy with other tests. Without a deadline: never.
            assert time.monotonic() - began < limit + 3.0, hook


def test_what_is_no_question_is_not_searched(tmp_path: Path, key: str) -> None:
    agent = Agent(tmp_path, DOWN, key)
    for prompt in ("yes, go on", "/compact", "<task-notification>done</task-notification>", "好", "?"):
        assert agent.run("prompt", prompt=prompt) is None, prompt


def test_secrets_stay_with_the_person(tmp_path: Path, url: str, key: str) -> None:
    agent = Agent(tmp_path, url, key)
    secrets = (
        "mh_0123456789abcdef", "sk-proj-abcdefgh12345678", "ghp_abcdefghijklmnop1234", "AKIAABCDEFGHIJKLMNOP",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "hunter2", "s3cr3t",
    )  # fmt: skip
    words = "Use {} {} {} {} with {} now; password: {} and postgres://ana:{}@db/x".format(*secrets)
    agent.say("user", f"{words}\n-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----")
    agent.run("stop")
    [(_, content)] = kept()
    assert not [one for one in (*secrets, "MIIabc") if one in content]
    assert content.count("[redacted]") == len(secrets) + 1


def test_codex_with_a_transcript_and_without(tmp_path: Path, url: str, key: str) -> None:
    agent = Agent(tmp_path, url, key, script=CODEX)
    assert agent.transcript
    lines: list[Any] = [
        {"type": "session_meta", "payload": {"id": "s-1"}},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"text": "<env>"}]}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "Ana moved to Porto."}},
        {"type": "event_msg", "payload": {"type": "agent_message", "message": "Noted."}},
    ]
    agent.transcript.write_text("".join(f"{json.dumps(line)}\n" for line in lines) + '{"type": "event_m')
    agent.run("stop")
    assert kept() == [("user", "Ana moved to Porto."), ("assistant", "Noted.")]

    other = Agent(tmp_path, url, key, "s-2", CODEX)
    other.transcript = None
    other.run("prompt", prompt="Ana keeps four bees.")
    other.run("stop", last_assistant_message="Four bees, noted.")
    other.run("stop")
    assert kept()[2:] == [("user", "Ana keeps four bees."), ("assistant", "Four bees, noted.")]


def test_a_resumed_session_sends_what_is_new(tmp_path: Path, url: str, key: str) -> None:
    agent = Agent(tmp_path, url, key)
    agent.say("user", "Said before these hooks were there.")
    agent.run("start", source="resume")
    agent.say("user", "Said since.")
    agent.run("stop")
    assert kept() == [("user", "Said since.")]


def test_the_project_is_that_of_git_and_can_be_left_out(tmp_path: Path, url: str, key: str) -> None:
    agent = Agent(tmp_path, url, key)
    with Client(url, key) as hub:
        hub.save("Atlas is built with make.", project="atlas")
        hub.save("Borea is built with make.", project="borea")
    worktree = tmp_path / "elsewhere"
    own = agent.repository / ".git" / "worktrees" / "elsewhere"
    for folder in (worktree, own):
        folder.mkdir(parents=True)
    (worktree / ".git").write_text(f"gitdir: {own}\n")
    (own / "commondir").write_text("../..\n")
    found = added(agent.run("prompt", prompt="How is it built with make?", cwd=str(worktree)))
    assert "Atlas" in found
    assert "Borea" not in found
    (agent.repository / ".memoryhub-off").touch()
    assert agent.run("prompt", prompt="How is it built with make?", cwd=str(worktree)) is None


def test_both_agents_have_one_script_for_python_3_9() -> None:
    assert CLAUDE.read_bytes() == CODEX.read_bytes()
    ast.parse(CLAUDE.read_text(), feature_version=(3, 9))
    for agent in ("claude-code", "codex"):
        [manifest] = (ROOT / agent).glob(".*-plugin/plugin.json")
        hooks = json.loads((ROOT / agent / json.loads(manifest.read_text())["hooks"]).read_text())["hooks"]
        for event, [group] in hooks.items():
            assert "memoryhub_hook.py" in group["hooks"][0]["command"], event
