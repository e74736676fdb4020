"""What the times and answers of searches and writes come to: pure arithmetic."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from statistics import fmean
from typing import Any

from apps.semantic.domain.evaluation import percentile

# From here on a way counts as correct.
CORRECT_RECALL = 0.99
RAW_WAYS = ("sql_exact", "sql_hnsw", "sql_hnsw_iterative", "hnswlib", "numpy")


@dataclass
class Samples:
    """Calls of one way. seconds: of each. elapsed: of all together, where they ran at once."""

    seconds: list[float] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)
    complete: list[bool] = field(default_factory=list)
    elapsed: float | None = None

    @property
    def spent(self) -> float:
        """Return the seconds of all calls."""
        return sum(self.seconds) if self.elapsed is None else self.elapsed


@dataclass(frozen=True)
class ReadFigures:
    """One way with one filter.

    recall: share of the right rows, on average. complete: share of the answers that had as many rows as exist. ratio:
    of its median to that of the quickest correct raw way; None where there is none.
    """

    rows: int
    filter: str
    way: str
    calls: int
    p50_ms: float
    p95_ms: float
    per_second: float
    recall: float
    complete: float
    ratio: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Return its fields."""
        return asdict(self)


def read_figures(rows: int, name: str, samples: dict[str, Samples]) -> list[ReadFigures]:
    """Return the figures of all ways with one filter, and their ratios."""
    figures = [_read_figures(rows, name, way, each) for way, each in samples.items() if each.seconds]
    best = best_ms([each.as_json() for each in figures], name)
    return [with_ratio(each, best) for each in figures]


def _read_figures(rows: int, name: str, way: str, samples: Samples) -> ReadFigures:
    return ReadFigures(
        rows=rows,
        filter=name,
        way=way,
        calls=len(samples.seconds),
        p50_ms=milliseconds(samples.seconds, 0.5),
        p95_ms=milliseconds(samples.seconds, 0.95),
        per_second=round(len(samples.seconds) / samples.spent, 1),
        recall=round(fmean(samples.recalls), 4),
        complete=round(fmean(samples.complete), 4),
    )


def with_ratio(figures: ReadFigures, best: float) -> ReadFigures:
    ratio = None if not best else round(figures.p50_ms / best, 2)
    return ReadFigures(**{**asdict(figures), "ratio": ratio})


def best_ms(reads: Sequence[Mapping[str, Any]], name: str) -> float:
    """Return the median of the quickest correct raw way with a filter; 0.0 where there is none."""
    return min((float(read["p50_ms"]) for read in correct_raw(reads, name)), default=0.0)


def best_way(reads: Sequence[Mapping[str, Any]], name: str) -> str:
    """Return the quickest correct raw way with a filter. An exact one always exists."""
    return str(min(correct_raw(reads, name), key=lambda read: float(read["p50_ms"]))["way"])


def correct_raw(reads: Sequence[Mapping[str, Any]], name: str) -> list[Mapping[str, Any]]:
    return [read for read in reads if read["filter"] == name and read["way"] in RAW_WAYS and is_correct(read)]


def is_correct(read: Mapping[str, Any]) -> bool:
    """Return whether its answers differ so little from exact ones that it is hard to notice."""
    return bool(read["recall"] >= CORRECT_RECALL and read["complete"] == 1.0)


@dataclass(frozen=True)
class Stages:
    """Where the time of each search goes, in seconds.

    fetch: reading the memories. whole: a search as it is. least: the quickest correct raw way, and then reading the
    rows by SQL, as quickly as can be.
    """

    refresh: float
    rank: float
    fetch: float
    whole: float
    least: float


_PARTS = tuple(field.name for field in fields(Stages))


def stage_figures(
    name: str, parts: Sequence[Stages], around: Sequence[tuple[float, float]], quickest: str
) -> dict[str, Any]:
    """Return medians. around: of a call over HTTP, and of one that does nothing. quickest: the raw way in `least`.

    times_least: a whole search by that.
    """
    figures = {f"{part}_ms": milliseconds([getattr(one, part) for one in parts]) for part in _PARTS}
    return {
        "filter": name,
        **figures,
        "quickest": quickest,
        "times_least": round(figures["whole_ms"] / figures["least_ms"], 2),
        "http_ms": milliseconds([call for call, _ in around]),
        "http_alone_ms": milliseconds([nothing for _, nothing in around]),
    }


def milliseconds(seconds: Sequence[float], share: float = 0.5) -> float:
    """Return a percentile, to the microsecond."""
    return round(percentile(seconds, share) * 1000, 3)


Ask = Callable[[Any], tuple[float, float, bool]]


def take_turns(
    ways: dict[str, Ask], questions: Sequence[Any], *, rounds: int, seconds: float, least: int
) -> dict[str, Samples]:
    """Put the questions to all ways in turns, so that what else the machine does troubles them alike.

    ways: each returns seconds, recall and completeness of one question. A way that has used up its `seconds` is asked
    only as many questions a round as make `least` in all.
    """
    samples = {name: Samples() for name in ways}
    for number in range(rounds):
        part = questions[number::rounds]
        for name, ask in ways.items():
            allowed = seconds * (number + 1) / rounds
            for place, question in enumerate(part):
                if samples[name].spent > allowed and place * rounds >= least:
                    break
                note(samples[name], *ask(question))
    return samples


def note(samples: Samples, seconds: float, recall: float, complete: bool) -> None:
    samples.seconds.append(seconds)
    samples.recalls.append(recall)
    samples.complete.append(complete)


@dataclass
class Written:
    """times: of each call in seconds. seconds: of all together. actions: what the hub says it did."""

    times: list[float] = field(default_factory=list)
    seconds: float = 0.0
    actions: Counter[str] = field(default_factory=Counter)


def write_figures(done: Mapping[str, Written]) -> list[dict[str, Any]]:
    """Return the figures of all ways to write; their ratios are to SQL."""
    medians = {name: milliseconds(each.times) for name, each in done.items()}
    return [
        {
            "way": name,
            "calls": len(each.times),
            "p50_ms": medians[name],
            "p95_ms": milliseconds(each.times, 0.95),
            "per_second": round(len(each.times) / each.seconds, 1),
            "ratio": round(medians[name] / medians["sql"], 2),
            "actions": dict(each.actions),
        }
        for name, each in done.items()
    ]
