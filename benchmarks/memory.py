"""Memory that the processes of a hub keep after many saves and searches, beside a restart with the same memories."""

import json
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from benchmarks.api import HubClient, Say, save_request, search_request
from benchmarks.hub import hub_environment, running_hub
from benchmarks.notes import note_lines
from benchmarks.texts import sentence, synthetic_texts
from memoryhub.process.children import NAME

MB = 1024 * 1024
SAMPLE_SECONDS, SAY_SECONDS = 1.0, 30.0
# Of what a process does first, such as loading the model, nothing is to be counted.
WARM_UP_SAVES, WARM_UP_SEARCHES = 50, 50
LONG_TOKENS, TOKENS_OF_A_WORD = 250, 1.85
QUERY_WORDS = 6


@dataclass(frozen=True)
class Processes:
    """Memory in bytes of the processes of a hub, what they share counted once.

    web: of all web processes. imports: of the process from which all are forked. up: of `manage.py up` and its helper.
    """

    web: float = 0.0
    worker: float = 0.0
    imports: float = 0.0
    up: float = 0.0

    def as_json(self) -> dict[str, float]:
        """Return megabytes, and those of all together."""
        return {name: round(size / MB, 1) for name, size in {**asdict(self), "all": self.total}.items()}

    @property
    def total(self) -> float:
        """Return the memory of all together, in bytes."""
        return sum(asdict(self).values())


def measure_processes(up: int) -> Processes:
    """Return the memory of the processes of a hub but its database, by the first of them."""
    sizes: Counter[str] = Counter()
    kinds = {NAME.format(kind): kind for kind in ("web", "worker", "imports")}
    first = psutil.Process(up)
    for process in (first, *first.children(recursive=True)):
        with suppress(psutil.Error):
            if not process.name().startswith("postgres"):
                memory = process.memory_full_info()
                sizes[kinds.get(process.name(), "up")] += getattr(memory, "pss", 0) or memory.rss
    return Processes(**sizes)


@dataclass
class MemoryMeasurement:
    """One run. batch: memories of a request, 1 for single saves; the searches are spread over the saves.

    users, clients: how many. settle_seconds: how long the hub is left alone before its memory is measured.
    """

    saves: int
    searches: int
    batch: int
    users: int
    clients: int
    settle_seconds: float
    is_long: bool
    web_processes: int
    say: Say
    peak: float = field(default=0.0, init=False)

    def run(self) -> dict[str, Any]:
        """Return the memory of a fresh hub, after a warm-up, after the run, and after a restart, in MB, and the growth.

        The growth of all is that since the warm-up, of web and worker that beside a restart with the same memories.
        """
        with tempfile.TemporaryDirectory(prefix="memoryhub-bench-") as place:
            environment = {**hub_environment(place), "MEMORYHUB_WEB_PROCESSES": str(self.web_processes)}
            url = f"http://127.0.0.1:{environment['MEMORYHUB_PORT']}"
            connect = lambda: HubClient(url, environment["MEMORYHUB_API_KEY"])  # noqa: E731
            log = Path(place) / "hub.log"
            with running_hub(environment, log) as up:
                fresh = self._settled(up)
                warm = self._warm(connect, up, 0)
                self.say(f"{self.saves} saves and {self.searches} searches")
                began = time.monotonic()
                with self._watching(up):
                    self._share_out(connect, self._requests())
                seconds = time.monotonic() - began
                after = self._settled(up)
            with running_hub(environment, log) as up:
                restarted = self._warm(connect, up, 1)
        return {
            "saves": self.saves,
            "searches": self.searches,
            "seconds": round(seconds, 1),
            "fresh_mb": fresh.as_json(),
            "warm_mb": warm.as_json(),
            "peak_web_mb": round(self.peak / MB, 1),
            "after_mb": after.as_json(),
            "restarted_mb": restarted.as_json(),
            "growth_mb": {
                "web": round((after.web - restarted.web) / MB, 1),
                "worker": round((after.worker - restarted.worker) / MB, 1),
                "all": round((after.total - warm.total) / MB, 1),
            },
        }

    def _warm(self, connect: Callable[[], HubClient], up: int, seed: int) -> Processes:
        """Have every user save and search a little, as any hub at work does, and return the memory then."""
        self.say("Warming up")
        texts = natural_texts(WARM_UP_SAVES, seed=100 + seed)
        saves = [save_request(self._user(place), [text]) for place, text in enumerate(texts)]
        searches = [
            search_request(self._user(place), last_words(text)) for place, text in enumerate(texts[:WARM_UP_SEARCHES])
        ]
        self._share_out(connect, [*saves, *searches])
        return self._settled(up)

    def _settled(self, up: int) -> Processes:
        self.say("Waiting until the hub is idle")
        time.sleep(self.settle_seconds)
        found = measure_processes(up)
        self.say(json.dumps(found.as_json()))
        return found

    def _user(self, number: int) -> str:
        return f"user-{number % self.users}"

    def _requests(self) -> Iterator[tuple[str, str]]:
        """Yield path and body of every request of the run."""
        texts = long_texts(self.saves) if self.is_long else natural_texts(self.saves)
        searched = 0
        for place in range(0, len(texts), self.batch):
            yield save_request(self._user(place // self.batch), texts[place : place + self.batch])
            due = self.searches * min(place + self.batch, len(texts)) // len(texts)
            for number in range(searched, due):
                yield search_request(self._user(number), last_words(texts[number * 7919 % len(texts)]))
            searched = due

    def _share_out(self, connect: Callable[[], HubClient], requests: Iterable[tuple[str, str]]) -> None:
        """Send requests over several connections, each of which is kept."""
        waiting, lock = iter(requests), threading.Lock()
        failures: list[Exception] = []

        def work() -> None:
            client = connect()
            try:
                while not failures:
                    with lock:
                        found = next(waiting, None)
                    if found is None:
                        return
                    client.send(*found)
            except Exception as error:  # noqa: BLE001  (of a thread; raised below)
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(self.clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    @contextmanager
    def _watching(self, up: int) -> Iterator[None]:
        """Note the highest memory of the web processes while the block runs, and say it once in a while."""
        done = threading.Event()

        def watch() -> None:
            began = said = time.monotonic()
            while not done.wait(SAMPLE_SECONDS):
                now, at = measure_processes(up), time.monotonic()
                self.peak = max(self.peak, now.web)
                if at - said > SAY_SECONDS:
                    said = at
                    self.say(f"{at - began:.0f} s: {json.dumps(now.as_json())}")

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def natural_texts(count: int, seed: int = 40) -> list[str]:
    """Return statements, each with words that are as frequent as those of natural language."""
    lines = note_lines(count)
    random.Random(seed).shuffle(lines)  # noqa: S311
    return [f"{text} {line.capitalize()}." for text, line in zip(synthetic_texts(count, seed), lines, strict=True)]


def long_texts(count: int) -> list[str]:
    """Return texts of about LONG_TOKENS tokens: statements and lines of natural words in turn."""
    chance = random.Random(41)  # noqa: S311
    lines = note_lines(4_000)
    texts = []
    for _ in range(count):
        parts: list[str] = []
        while sum(part.count(" ") + 1 for part in parts) < LONG_TOKENS / TOKENS_OF_A_WORD:
            parts += [sentence(chance), f"{chance.choice(lines).capitalize()}."]
        texts.append(" ".join(parts))
    return texts


def last_words(text: str) -> str:
    """Return the end of a text, to be searched for."""
    return " ".join(text.split()[-QUERY_WORDS:])
