"""A process beside a running hub that does what it is asked, so that each act of a test does not cost a start."""

import json
import subprocess
import sys
from types import TracebackType
from typing import Any, Self

from tests.system.hub import PROJECT, Hub

_LOOP = """
import json, sys
scope = {}
print("ready", flush=True)
for line in sys.stdin:
    scope["answer"] = None
    exec(json.loads(line), scope)
    print("done", json.dumps(scope["answer"]), flush=True)
"""


class Beside:
    """`manage.py shell` on the data directory of a hub."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "manage.py", "shell", "-v", "0", "-c", _LOOP],
            cwd=PROJECT,
            env=self._hub.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._read("ready")
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.communicate()

    def run(self, code: str) -> Any:
        """Execute some lines, and return what they have assigned to `answer`."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(code) + "\n")
        self._process.stdin.flush()
        return json.loads(self._read("done"))

    def _read(self, word: str) -> str:
        """Read until a line that begins with a word; return its rest."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(word):
                return line.removeprefix(word)
        raise AssertionError("the process beside the hub has ended")
