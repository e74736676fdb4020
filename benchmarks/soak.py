"""A soak: many clients at a busy hub for a long time, and whether every request got a whole answer."""

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from apps.semantic.domain.evaluation import percentile
from benchmarks.hub import busy_processes
from benchmarks.texts import synthetic_texts

MAX_CLIENTS = 64
MAX_MINUTES = 60.0
MAX_BURNERS = 32
TIMEOUT_SECONDS = 120
REPORT_SECONDS = 60
BATCH = 50
# What a client does, by how often.
MIX = {"search": 60, "save": 25, "list": 8, "batch": 4, "event": 2, "ready": 1}


@dataclass
class Answers:
    """What the clients got. cut: requests without a whole answer, each with its kind and the error."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return counts, and times in milliseconds."""
        times = self.seconds or [0.0]
        return {
            "requests": len(self.seconds) + len(self.cut),
            "cut": len(self.cut),
            "first_cut": self.cut[:10],
            "statuses": {f"{kind} {status}": count for (kind, status), count in sorted(self.statuses.items())},
            "p50_ms": round(percentile(times, 0.5) * 1000, 1),
            "p99_ms": round(percentile(times, 0.99) * 1000, 1),
            "max_ms": round(max(times) * 1000, 1),
        }


class SoakClient:
    """One client, with a connection that it keeps. Only for a hub on this machine."""

    def __init__(self, url: str, key: str, user: str, seed: int) -> None:
        parts = urlsplit(url)
        if parts.hostname not in {"127.0.0.1", "::1", "localhost"}:
            raise ValueError("A soak is for a hub on this machine only.")
        self.address, self.user, self.answers = (parts.hostname, parts.port), user, Answers()
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._random = random.Random(seed)  # noqa: S311  (which request comes next is no secret)
        self._texts = synthetic_texts(2_000, seed=seed)
        self._connection = self._connect()

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(*self.address, timeout=TIMEOUT_SECONDS)

    def run(self, until: float) -> None:
        """Send one request after another until a moment of the monotonic clock."""
        kinds, weights = list(MIX), list(MIX.values())
        while time.monotonic() < until:
            kind = self._random.choices(kinds, weights)[0]
            method, path, body = self.request(kind)
            began = time.monotonic()
            try:
                self._connection.request(method, path, None if body is None else json.dumps(body), self._headers)
                response = self._connection.getresponse()
                response.read()
            except (OSError, http.client.HTTPException) as error:
                self.answers.cut.append(f"{kind} after {time.monotonic() - began:.1f} s: {type(error).__name__}")
                self._connection.close()
                self._connection = self._connect()
                continue
            self.answers.seconds.append(time.monotonic() - began)
            self.answers.statuses[kind, response.status] += 1
            if response.status == 503:
                time.sleep(min(5.0, float(response.getheader("Retry-After") or 1)))

    def request(self, kind: str) -> tuple[str, str, Any]:
        """Return method, path and body of a request of a kind."""
        text = f"{self._random.choice(self._texts)} {self._random.random():.6f}"
        if kind == "search":
            return "POST", "/api/semantic/search", {"query": text[-80:], "user_id": self.user}
        if kind == "save":
            return "POST", "/api/semantic/memories", {"content": text, "user_id": self.user}
        if kind == "batch":
            items = [{"content": f"{text} {number}", "user_id": self.user} for number in range(BATCH)]
            return "POST", "/api/semantic/memories/batch", {"memories": items}
        if kind == "event":
            event = {"event_type": "soak", "timestamp": "2026-01-01T00:00:00Z", "content": text, "user_id": self.user}
            return "POST", "/api/episodic/events", event
        if kind == "list":
            return "GET", f"/api/semantic/memories?user_id={self.user}&limit=50", None
        return "GET", "/readyz", None


def soak(
    url: str, key: str, users: Sequence[str], clients: int, minutes: float, burners: int, say: Callable[[str], None]
) -> dict[str, Any]:
    """Run so many clients for so many minutes beside so many processes that only take processor time."""
    clients, minutes = min(clients, MAX_CLIENTS), min(minutes, MAX_MINUTES)
    until = time.monotonic() + minutes * 60
    all_clients = [SoakClient(url, key, users[number % len(users)], number) for number in range(clients)]
    burners = min(burners, MAX_BURNERS)
    with busy_processes(burners):
        threads = [threading.Thread(target=client.run, args=(until,)) for client in all_clients]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            threads[0].join(REPORT_SECONDS)
            done = sum(len(client.answers.seconds) for client in all_clients)
            cut = sum(len(client.answers.cut) for client in all_clients)
            say(f"{max(0.0, until - time.monotonic()) / 60:.0f} min left: {done} answers, {cut} cut")
            for thread in threads[1:] if not threads[0].is_alive() else ():
                thread.join()
    together = Answers()
    for client in all_clients:
        together.statuses += client.answers.statuses
        together.seconds += client.answers.seconds
        together.cut += client.answers.cut
    return {"clients": clients, "minutes": minutes, "burners": burners, **together.as_json()}
