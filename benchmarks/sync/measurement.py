"""What the benchmark measures of knowledge sync: finding what changed, full, incremental and single syncs."""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
import psutil
from django.core.management.base import CommandError
from django.db import connection
from rich.table import Table

from apps.llm.services import embed_texts, get_embedder
from apps.semantic.selectors import managed_memories
from apps.sync.domain.state import detect_delta
from apps.sync.models import KnowledgeSource, SyncKind, SyncRun
from apps.sync.services import source_create, source_delete, sync_run
from benchmarks.api import Say
from benchmarks.sync.records import RecordRepository, record_id, synthetic_items
from benchmarks.sync.walk import ACCESS, sync_folders

T = TypeVar("T")
REPEATED = 5
AIMS = {"delta": 1.0, "full": 20.0, "single": 0.1, "incremental": 1.0}


@dataclass(frozen=True)
class Taken:
    """What something took, in seconds: by the clock, of processors in this process, and in that of the database.

    items: how many it was about. database: None where its process is on another machine. embedder: by the clock, of
    `seconds`. aim: for `seconds`.
    """

    name: str
    items: int
    seconds: float
    processor: float
    database: float | None
    embedder: float = 0.0
    aim: float | None = None
    note: str = ""


@dataclass
class SyncMeasurement:
    """One run, in directories of its own. Its sources are removed at the end."""

    items: int
    files: int
    commits: int
    say: Say

    def run(self) -> list[Taken]:
        """Return all figures. Raises CommandError where a sync did something that it should not."""
        with tempfile.TemporaryDirectory(prefix="memoryhub-bench-") as place, sync_folders(Path(place).resolve()):
            self.folder = Path(place).resolve()
            embed_texts(["The first text loads the model."])
            return [*self.syncs_of_items(), *self.syncs_of_many_files()]

    def syncs_of_items(self) -> list[Taken]:
        """Measure full syncs, with new items and with known ones, and syncs of single items."""
        self.say(f"Full sync of {self.items:,} items")
        repository = RecordRepository(self.folder / "items.git", self.items)
        with self.source_of(repository.path) as source:
            full = self.sync(f"full sync, {self.items:,} new items", source, SyncKind.FULL)
            texts = [memory.content for memory in managed_memories(source.manager)]
            alone, _ = taken("the embedder alone, same texts", len(texts), lambda: embed_texts(texts))
            share = f"{full.seconds / alone.seconds:.2f} of the embedder alone"
            self.say("The same with nothing changed, and single items")
            return [
                replace(full, aim=AIMS["full"], note=f"{full.note}; {share}"),
                alone,
                self.unchanged("full sync, nothing changed", source, SyncKind.FULL),
                self.unchanged("incremental sync, nothing changed", source, SyncKind.INCREMENTAL),
                self.one_changed(f"single item of {self.items:,}", repository, source, SyncKind.SINGLE),
            ]

    def one_changed(self, name: str, repository: RecordRepository, source: KnowledgeSource, kind: SyncKind) -> Taken:
        """Measure syncs of which each finds one changed item: of that item, or of what commits have touched."""
        found = []
        for number in range(REPEATED):
            repository.change([number])
            item_id = record_id(number) if kind == SyncKind.SINGLE else ""
            found.append(self.sync(name, source, kind, item_id))
        return middle(found, AIMS["single"] if kind == SyncKind.SINGLE else AIMS["incremental"])

    def syncs_of_many_files(self) -> list[Taken]:
        """Measure incremental syncs in a large repository, and that a full one finds nothing left to do."""
        self.say(f"First sync of {self.files:,} files")
        repository = RecordRepository(self.folder / "files.git", self.files)
        with self.source_of(repository.path) as source:
            name = f"first sync, {self.files:,} files, random vectors"
            first = self.sync(name, source, SyncKind.INCREMENTAL, is_random=True)
            self.say(f"Incremental syncs of {self.commits} commits")
            found = []
            for _ in range(REPEATED):
                repository.work(self.commits)
                found.append(self.sync(f"incremental sync, {self.commits} commits", source, SyncKind.INCREMENTAL))
            idle = self.unchanged("incremental sync, nothing changed", source, SyncKind.INCREMENTAL)
            full = self.unchanged("full sync, nothing changed", source, SyncKind.FULL)
            self.say("One changed item")
            small = f"incremental sync, one changed of {self.files:,}"
            ones = [
                self.one_changed(small, repository, source, SyncKind.INCREMENTAL),
                self.one_changed(f"single item of {self.files:,}", repository, source, SyncKind.SINGLE),
            ]
            return [first, middle(found, AIMS["incremental"]), idle, full, *ones]

    def sync(
        self, name: str, source: KnowledgeSource, kind: SyncKind, item_id: str = "", *, is_random: bool = False
    ) -> Taken:
        """Measure a sync. is_random: without the embedder, so that a large first sync takes no minutes."""
        with embedder_watched(is_random=is_random) as embedded:
            found, run = taken(name, 0, lambda: sync_run(access=ACCESS, uuid=source.uuid, kind=kind, item_id=item_id))
        items = run.added + run.updated + run.deleted + run.unchanged
        note = note_of(run, embedded.texts)
        self.say(f"{name}: {found.seconds:.3f} s, {found.processor:.3f} s of processors, {note}")
        return replace(found, items=items, embedder=embedded.seconds, note=note)

    def unchanged(self, name: str, source: KnowledgeSource, kind: SyncKind) -> Taken:
        """Measure a sync that has nothing to do. Raises CommandError where it does something all the same."""
        found = self.sync(name, source, kind)
        if found.note != "0 + 0 - 0, 0 embedded":
            raise CommandError(f"{name}: nothing was to be done, but this was ({found.note}).")
        return found

    @contextmanager
    def source_of(self, path: Path, **values: str) -> Iterator[KnowledgeSource]:
        """Create a source of a repository, and remove it in the end."""
        owner = {"name": f"bench {uuid4().hex[:8]}", "user_id": f"bench-{uuid4()}"}
        source = source_create(access=ACCESS, values={**owner, "kind": "git", "location": str(path), **values})
        try:
            yield source
        finally:
            source_delete(access=ACCESS, uuid=source.uuid)


def note_of(run: SyncRun, embedded: int) -> str:
    """Return what a sync did: items added, updated and deleted, files that could not be read, and embedded texts."""
    failed = f", {run.failed} failed" if run.failed else ""
    return f"{run.added} + {run.updated} - {run.deleted}{failed}, {embedded} embedded"


def measure_delta(count: int) -> Taken:
    """Measure the comparison of items with what is stored; the median of some."""
    stored, items = synthetic_items(count)
    found = [taken(f"delta of {count:,} items", count, lambda: detect_delta(stored, items)) for _ in range(REPEATED)]
    delta = found[0][1]
    counts = f"{len(delta.added)} + {len(delta.updated)} - {len(delta.deleted)}"
    return replace(middle([one for one, _ in found], AIMS["delta"]), note=counts, database=None)


def taken(name: str, items: int, work: Callable[[], T]) -> tuple[Taken, T]:
    """Return what some work took, and its result."""
    database = database_processor()
    began, worked = time.perf_counter(), time.process_time()
    result = work()
    seconds, processor = time.perf_counter() - began, time.process_time() - worked
    after = database_processor()
    there = None if database is None or after is None else after - database
    return Taken(name, items, seconds, processor, there), result


def database_processor() -> float | None:
    """Return the processor seconds that the process of this connection's database session has used."""
    if connection.connection is None:
        return None
    try:
        times = psutil.Process(connection.connection.info.backend_pid).cpu_times()
    except psutil.Error:
        return None
    return float(times.user + times.system)


def middle(found: Sequence[Taken], aim: float | None) -> Taken:
    """Return the one that took the median time."""
    by_time = sorted(found, key=lambda one: one.seconds)
    return replace(by_time[(len(by_time) - 1) // 2], name=f"{found[0].name} (median of {len(found)})", aim=aim)


@dataclass
class Embedded:
    """What the embedder of this process has done: how many texts it got, and the seconds that they took."""

    texts: int = 0
    seconds: float = 0.0


@contextmanager
def embedder_watched(*, is_random: bool = False) -> Iterator[Embedded]:
    """Measure the embedder of this process while the block runs. is_random: let it return random vectors instead."""
    embedder: Any = get_embedder()
    embed, found, chance = embedder.embed, Embedded(), np.random.default_rng(33)

    def watched(texts: Sequence[str]) -> Any:
        began = time.perf_counter()
        vectors = chance.standard_normal((len(texts), embedder.space.dimension), np.float32) if is_random else None
        made = embed(texts) if vectors is None else vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        found.texts += len(texts)
        found.seconds += time.perf_counter() - began
        return made

    embedder.embed = watched
    try:
        yield found
    finally:
        del embedder.embed


def table_of(figures: Sequence[Taken]) -> Table:
    """Return the figures as a table; its title has the load of the machine."""
    load = ", ".join(f"{one:.1f}" for one in psutil.getloadavg())
    table = Table(title=f"Knowledge sync, load {load} on {psutil.cpu_count()} processors; in seconds")
    for name in ("", "items", "clock", "embedder", "processor", "database", "aim", "added + updated - deleted"):
        table.add_column(name, justify="left" if name in ("", "added + updated - deleted") else "right")
    for one in figures:
        database = "" if one.database is None else f"{one.database:.2f}"
        aim = "" if one.aim is None else f"{one.aim:g}{'' if one.seconds < one.aim else ' missed'}"
        times = (f"{seconds:.3f}" for seconds in (one.seconds, one.embedder, one.processor))
        table.add_row(one.name, f"{one.items:,}", *times, database, aim, one.note)
    return table


def figures_as_json(figures: Sequence[Taken]) -> dict[str, Any]:
    """Return the figures with the load of the machine, for a file."""
    return {"load": psutil.getloadavg(), "figures": [asdict(one) for one in figures]}
