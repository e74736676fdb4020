"""What live push costs: triggers in saves, and sockets in a web process."""

import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import psutil
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection, connections, transaction
from django.test import RequestFactory
from websockets.sync.client import connect

from apps.core.domain.scope import Scope, system_access
from apps.core.processes import web_processes
from apps.live.triggers import CHANNEL, NAME, watched_tables
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.services import memories_purge, memory_save, memory_save_many
from benchmarks.api import Figures, HubClient, bench_key
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


def measure_sockets(url: str, count: int, calls: int, say: Say) -> dict[str, Any]:
    """Return memory of the web process and latencies with and without sockets that hear a change every second."""
    user = f"bench-{uuid4()}"
    sessions = [_signed_in(f"{user}-{number}") for number in range(max(1, count // 20))]
    with bench_key() as key:
        try:
            memory_save_many(
                access=system_access("bench"),
                drafts=[MemoryDraft(text, scope=Scope(user)) for text in synthetic_texts(500, seed=5)],
            )
            client = HubClient(url, key)
            answers = {"without": [_latencies(client, user, calls)]}
            before = _web_memory()
            with _sockets(url, sessions, count, say) as heard:
                time.sleep(2)
                after = _web_memory()
                with _changes():
                    answers["with"] = [_latencies(client, user, calls)]
                frames = heard()
            answers["without"].append(_latencies(client, user, calls))
        finally:
            memories_purge(access=system_access("bench"), scope=Scope(user))
            User.objects.filter(username__startswith=user).delete()
    return {
        "sockets": count,
        "frames": frames,
        "megabytes": round((after - before) / MEGABYTE, 1),
        "kilobytes_each": round((after - before) / count / 1024, 1),
        **{f"{variant}_sockets": _percentiles(runs) for variant, runs in answers.items()},
    }


def _signed_in(name: str) -> str:
    request = RequestFactory().get("/")
    request.session = SessionStore()
    user = User.objects.create_user(name, is_staff=True)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    request.session.save()
    return str(request.session.session_key)


@contextmanager
def _sockets(url: str, sessions: Sequence[str], count: int, say: Say) -> Iterator[Callable[[], int]]:
    """Open sockets. Yield a function that returns how many frames came through all of them."""
    parts = urlsplit(url)
    with ExitStack() as stack:
        opened = []
        for number in range(count):
            headers = {"Origin": url, "Cookie": f"sessionid={sessions[number % len(sessions)]}"}
            address = f"ws://{parts.netloc}/live"
            opened.append(stack.enter_context(connect(address, additional_headers=headers, compression=None)))
        say(f"Opened {count} sockets")

        def heard() -> int:
            frames = 0
            for socket in opened:
                while True:
                    try:
                        socket.recv(0)
                    except TimeoutError:
                        break
                    frames += 1
            return frames

        yield heard


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


def _latencies(client: HubClient, user: str, calls: int) -> dict[str, list[float]]:
    """Return the seconds of requests of both kinds, one after the other."""
    searches = synthetic_texts(calls, seed=6)
    times: dict[str, list[float]] = {"healthz": [], "search": []}
    for query in searches:
        began = time.perf_counter()
        client.send("/healthz")
        times["healthz"].append(time.perf_counter() - began)
        times["search"].append(client.post("/api/semantic/search", {"query": query[-80:], "user_id": user}))
    return times


def _percentiles(runs: list[dict[str, list[float]]]) -> dict[str, dict[str, float]]:
    return {kind: Figures([each for run in runs for each in run[kind]]).as_json() for kind in runs[0]}


def _web_memory() -> int:
    """Return the memory of the web processes of this run, in bytes."""
    return sum(psutil.Process(state.pid).memory_info().rss for state in web_processes())
