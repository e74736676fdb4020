"""What live push costs: triggers in saves, and sockets in a web process."""

import json
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import psutil
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, connections, transaction
from django.test import Client

from apps.core.domain.scope import Scope, system_access
from apps.core.models import ProcessKind
from apps.core.processes import live_processes
from apps.live.triggers import CHANNEL, NAME, watched_tables
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.services import memories_purge, memory_save, memory_save_many
from benchmarks.api import Figures, HubClient, bench_key, timed
from benchmarks.texts import synthetic_texts

MEGABYTE = 1024 * 1024
TICK_SECONDS = 1.0
Say = Callable[[str], None]


# --- triggers -----------------------------------------------------------------------------------------


@contextmanager
def triggers(*, are_on: bool) -> Iterator[None]:
    """Switch the triggers of all watched tables on, or off until the end."""
    if are_on:
        yield
        return
    _alter("DISABLE")
    try:
        yield
    finally:
        _alter("ENABLE")


def measure_triggers(rounds: int, say: Say) -> dict[str, Any]:
    """Return the medians of saves with triggers and without any, alternating, and of NOTIFY from Python."""
    user = f"bench-{uuid4()}"
    texts = iter(synthetic_texts(rounds * 330 + 200, seed=23))
    taken: dict[str, dict[str, list[float]]] = {}
    kinds: dict[str, Callable[[], float]] = {
        "single_save": lambda: _save(user, next(texts)),
        "batch_of_100": lambda: _save_batch(user, [next(texts) for _ in range(100)]),
    }
    try:
        for work in kinds.values():
            work()
        for number in range(rounds):
            say(f"Saving, round {number + 1} of {rounds}")
            for kind, work in kinds.items():
                for variant in ("off", "on", "python")[:: 1 if number % 2 else -1]:
                    times = taken.setdefault(kind, {}).setdefault(variant, [])
                    with triggers(are_on=variant == "on"):
                        for _ in range(10 if kind == "single_save" else 1):
                            times.append(_with_notify(work) if variant == "python" else work())
    finally:
        memories_purge(access=system_access("bench"), scope=Scope(user))
    return {kind: compare(variants) for kind, variants in taken.items()}


def compare(variants: dict[str, list[float]]) -> dict[str, float]:
    """Return medians in milliseconds, and ratios to no triggers."""
    medians = {variant: statistics.median(times) for variant, times in variants.items()}
    return {
        **{f"{variant}_ms": round(seconds * 1_000, 3) for variant, seconds in medians.items()},
        "triggers_over_none": round(medians["on"] / medians["off"], 4),
        "python_over_none": round(medians["python"] / medians["off"], 4),
    }


def measure_commits(seconds: float, writers: int, say: Say) -> dict[str, float]:
    """Return commits a second of writers at once, with and without triggers: those that notify commit in turn."""
    per_second: dict[bool, list[float]] = {True: [], False: []}
    for are_on in (True, False, False, True):
        say(f"Committing from {writers} connections, triggers {'on' if are_on else 'off'}")
        with triggers(are_on=are_on), ThreadPoolExecutor(writers) as pool:
            counts = list(pool.map(lambda _: _commit_for(seconds), range(writers)))
        per_second[are_on].append(sum(counts) / seconds)
    on, off = (statistics.fmean(per_second[are_on]) for are_on in (True, False))
    return {"writers": writers, "on_per_second": round(on), "off_per_second": round(off), "ratio": round(on / off, 3)}


def _alter(word: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE tgname = %s", [NAME]
        )
        present = {name for (name,) in cursor.fetchall()}
        for table in watched_tables().keys() & present:
            cursor.execute(f"ALTER TABLE {connection.ops.quote_name(table)} {word} TRIGGER {NAME}")


def _save(user: str, text: str) -> float:
    began = time.perf_counter()
    memory_save(access=system_access("bench"), draft=MemoryDraft(text, scope=Scope(user)))
    return time.perf_counter() - began


def _save_batch(user: str, texts: Sequence[str]) -> float:
    drafts = [MemoryDraft(text, scope=Scope(user)) for text in texts]
    began = time.perf_counter()
    memory_save_many(access=system_access("bench"), drafts=drafts)
    return time.perf_counter() - began


def _with_notify(work: Callable[[], float]) -> float:
    """Save, with a statement more in the same transaction."""
    began = time.perf_counter()
    with transaction.atomic():
        work()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, 'memories'), pg_notify(%s, 'deliveries')", [CHANNEL, CHANNEL])
    return time.perf_counter() - began


def _commit_for(seconds: float) -> int:
    """Commit the smallest change of a watched table again and again, and return how often."""
    name, count, deadline = f"bench-{uuid4()}", 0, time.monotonic() + seconds
    try:
        with connection.cursor() as cursor:
            while time.monotonic() < deadline:
                cursor.execute("INSERT INTO core_lockeduser (user_id, since) VALUES (%s, now())", [f"{name}-{count}"])
                count += 1
            cursor.execute("DELETE FROM core_lockeduser WHERE user_id LIKE %s", [f"{name}-%"])
    finally:
        connections.close_all()
    return count


# --- sockets ------------------------------------------------------------------------------------------


def measure_sockets(url: str, count: int, calls: int, rounds: int, say: Say) -> dict[str, Any]:
    """Return memory of the web process, and latencies with and without sockets that hear a change every second.

    Both are measured in turn, so that what else the machine does meets them alike. calls: of each kind in all.
    """
    user = f"bench-{uuid4()}"
    sessions = [_signed_in(f"{user}-{number}") for number in range(max(1, count // 20))]
    answers: dict[str, list[dict[str, list[float]]]] = {"without": [], "with": []}
    grown, frames = [], 0
    with bench_key() as key:
        client = HubClient(url, key)
        page = PageClient(url, _signed_in(f"{user}-operator"))
        try:
            texts = [MemoryDraft(text, scope=Scope(user)) for text in synthetic_texts(500, seed=5)]
            memory_save_many(access=system_access("bench"), drafts=texts)
            _latencies(client, page, user, calls // rounds)  # until everything is loaded
            for number in range(rounds):
                say(f"Asking without and with {count} sockets, round {number + 1} of {rounds}")
                with _changes():
                    answers["without"].append(_latencies(client, page, user, calls // rounds))
                before = _web_memory()
                with _crowd(url, sessions, count) as end:
                    grown.append(_web_memory() - before)
                    with _changes():
                        answers["with"].append(_latencies(client, page, user, calls // rounds))
                    frames += end()
        finally:
            memories_purge(access=system_access("bench"), scope=Scope(user))
            User.objects.filter(username__startswith=user).delete()
    return {
        "sockets": count,
        "frames": frames,
        "megabytes": round(max(grown) / MEGABYTE, 1),
        "kilobytes_each": round(max(grown) / count / 1024, 1),
        **{f"{variant}_sockets": _percentiles(runs) for variant, runs in answers.items()},
        "with_over_without": _ratios(answers["with"], answers["without"]),
    }


class PageClient(HubClient):
    """A connection of a person who is signed in."""

    def __init__(self, url: str, session: str) -> None:
        super().__init__(url, "")
        self._headers = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={session}"}

    def load(self, path: str) -> None:
        """Load a page. Raises RuntimeError for another one, such as that to sign in."""
        if b"now-sentence" not in self.send(path):
            raise RuntimeError(f"{path} answered with another page.")


def _signed_in(name: str) -> str:
    """Return the session of a new account that sees everything: others hear no topics."""
    client = Client()
    client.force_login(User.objects.create_superuser(name))
    return str(client.cookies[settings.SESSION_COOKIE_NAME].value)


@contextmanager
def _crowd(url: str, sessions: Sequence[str], count: int) -> Iterator[Callable[[], int]]:
    """Open sockets in another process. Yield a function that closes them and returns how many frames they received."""
    crowd = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.socket_crowd"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert crowd.stdin is not None
    assert crowd.stdout is not None
    crowd.stdin.write(json.dumps({"url": url, "sessions": list(sessions), "count": count}) + "\n")
    crowd.stdin.flush()
    if crowd.stdout.readline().strip() != "open":
        raise RuntimeError("The sockets could not be opened.")

    def end() -> int:
        return int(crowd.communicate("end\n", timeout=60)[0])

    try:
        yield end
    finally:
        crowd.kill()
        crowd.wait()


@contextmanager
def _changes() -> Iterator[None]:
    """Change something of five topics every second."""
    has_ended = threading.Event()

    def run() -> None:
        with connection.cursor() as cursor:
            while not has_ended.wait(TICK_SECONDS):
                cursor.execute(
                    "SELECT pg_notify(%s, t) FROM unnest(ARRAY['jobs','keys','rules','notes','people']) t", [CHANNEL]
                )
        connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        has_ended.set()
        thread.join()


def _latencies(client: HubClient, page: PageClient, user: str, calls: int) -> dict[str, list[float]]:
    """Return the seconds of requests of each kind, one after the other; *Now* is asked for once in five."""
    times: dict[str, list[float]] = {"healthz": [], "search": [], "now": []}
    for number, query in enumerate(synthetic_texts(calls, seed=6)):
        times["healthz"].append(timed(lambda: client.send("/healthz")))
        times["search"].append(client.post("/api/semantic/search", {"query": query[-80:], "user_id": user}))
        if number % 5 == 0:
            times["now"].append(timed(lambda: page.load("/admin/")))
    return times


def _percentiles(runs: list[dict[str, list[float]]]) -> dict[str, dict[str, float]]:
    return {kind: Figures([each for run in runs for each in run[kind]]).as_json() for kind in runs[0]}


def _ratios(those: list[dict[str, list[float]]], to: list[dict[str, list[float]]]) -> dict[str, dict[str, float]]:
    """Return the ratios of the medians of each round, by the kind of call: their median, the least and the largest."""
    found = {}
    for kind in those[0]:
        medians = [
            statistics.median(one[kind]) / statistics.median(other[kind]) for one, other in zip(those, to, strict=True)
        ]
        found[kind] = {
            "median": round(statistics.median(medians), 3),
            "least": round(min(medians), 3),
            "largest": round(max(medians), 3),
        }
    return found


def _web_memory() -> int:
    """Return the memory of the web processes beside this one, whose run has a name of its own, in bytes."""
    pids = [state.pid for state in live_processes() if state.kind is ProcessKind.WEB]
    if not pids:
        raise RuntimeError("No web process has said that it is alive.")
    return sum(psutil.Process(pid).memory_info().rss for pid in pids)
