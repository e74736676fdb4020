"""Writers of one note at the same time: the API, a shell that appends, and an editor that saves by renaming."""

import json
import subprocess
import threading
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

from benchmarks.soak import TIMEOUT_SECONDS

API_WRITERS = 4
ECHO_SECONDS, EDITOR_SECONDS = 0.1, 2.0
# After the last write the hub is read so often, with pauses, before the lines are counted.
LAST_LOOKS, LAST_PAUSE = 4, 1.5
# A shell that opens the file for each line, and says when it is written.
SHELL = 'while IFS= read -r line; do echo "$line" >> "$1"; echo; done'


@dataclass
class Written:
    """What the writers have written, and how long the API took for it. refused: answers other than a success."""

    lines: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    refused: Counter[int] = field(default_factory=Counter)


@dataclass
class NoteWriters:
    """All writers of the MEMORY.md of one user.

    before: so many lines are in the note when they begin. The editor and the shell take turns: without the hub, a save
    over a line that its editor had not read loses it.
    """

    url: str
    key: str
    user: str
    path: Path
    before: int = 0
    until: float = 0.0
    turn: threading.Lock = field(default_factory=threading.Lock)

    def run(self, seconds: float) -> dict[str, Any]:
        """Write for so long, and return what was lost and what is there twice."""
        self.call("POST", "/api/memory/main/entries", {"entry": "begins", "user_id": self.user})
        lines = [f"before {number}" for number in range(self.before)]
        with self.path.open("a") as file:
            file.writelines(f"- {line}\n" for line in lines)
        self.until = time.monotonic() + seconds
        written = [Written() for _ in range(API_WRITERS + 2)]
        writers = [*(self.write_by_api for _ in range(API_WRITERS)), self.write_by_shell, self.write_by_editor]
        threads = [
            threading.Thread(target=writer, args=(number, each))
            for number, (writer, each) in enumerate(zip(writers, written, strict=True))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for _ in range(LAST_LOOKS):
            time.sleep(LAST_PAUSE)
            _, note = self.call("GET", f"/api/memory/main?user_id={self.user}")
        there = Counter(line.removeprefix("- ") for line in note["text"].splitlines())
        every = lines + [line for each in written for line in each.lines]
        times = [each for one in written for each in one.seconds]
        return {
            "seconds": seconds,
            "by_api": sum(len(each.lines) for each in written[:API_WRITERS]),
            "by_shell": len(written[-2].lines),
            "by_editor": len(written[-1].lines),
            "lost": [line for line in every if not there[line]],
            "twice": [line for line in every if there[line] > 1],
            "refused": dict(sum((each.refused for each in written), Counter())),
            "longest_api_write_seconds": round(max(times, default=0.0), 3),
        }

    def write_by_api(self, number: int, written: Written) -> None:
        """Add entries through the API, one after the other."""
        count = 0
        while time.monotonic() < self.until:
            line, began = f"api {number} {count}", time.monotonic()
            status, _ = self.call("POST", "/api/memory/main/entries", {"entry": line, "user_id": self.user})
            written.seconds.append(time.monotonic() - began)
            count += 1
            if status == 201:
                written.lines.append(line)
            else:
                written.refused[status] += 1
            time.sleep(ECHO_SECONDS)

    def write_by_shell(self, number: int, written: Written) -> None:
        """Append lines as `echo >>` does."""
        arguments = ["sh", "-c", SHELL, "sh", str(self.path)]
        with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as shell:
            while time.monotonic() < self.until and shell.stdin is not None and shell.stdout is not None:
                line = f"shell {number} {len(written.lines)}"
                with self.turn:
                    shell.stdin.write(f"{line}\n")
                    shell.stdin.flush()
                    shell.stdout.readline()
                written.lines.append(line)
                time.sleep(ECHO_SECONDS)

    def write_by_editor(self, number: int, written: Written) -> None:
        """Read the file, write it with a further line under another name, and rename that."""
        aside = self.path.with_suffix(".tmp")
        while time.monotonic() < self.until:
            line = f"editor {number} {len(written.lines)}"
            with self.turn:
                aside.write_bytes(f"- {line}\n".encode() + self.path.read_bytes())
                aside.rename(self.path)
            written.lines.append(line)
            time.sleep(EDITOR_SECONDS)

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Send a request, and return status and answer."""
        request = urllib.request.Request(  # noqa: S310 - of this machine
            f"{self.url}{path}",
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:  # noqa: S310
                return response.status, json.load(response)
        except HTTPError as error:
            return error.code, None
