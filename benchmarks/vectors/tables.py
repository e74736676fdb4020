"""The figures of searches by vector, as tables on a terminal."""

from collections.abc import Iterable, Mapping
from typing import Any

from rich.table import Table

MEANINGS = {
    "sql_exact": "SQL, exact",
    "sql_hnsw": "SQL, HNSW",
    "sql_hnsw_iterative": "SQL, HNSW, iterative",
    "hnswlib": "hnswlib",
    "numpy": "numpy, exact",
    "rank": "our ranking alone",
    "index": "our index, up to date",
    "service": "in process, whole",
    "http": "our API, 1 client",
    "http_many": "our API, 16 clients",
    "sql": "SQL, with HNSW",
}


def tables_of(figures: Mapping[str, Any]) -> Iterable[Table]:
    """Yield for each scope: searches, their parts, writes, and its preparation."""
    for scope in figures["scopes"]:
        yield _reads(scope)
        yield _stages(scope)
        yield _writes(scope)
        yield _making(scope)


def _reads(scope: Mapping[str, Any]) -> Table:
    title = f"{scope['rows']:,} memories: median ms, times the quickest correct raw way, recall@10 (!: results missing)"
    filters = list(dict.fromkeys(read["filter"] for read in scope["reads"]))
    table = Table(title=title)
    table.add_column("way")
    for name in filters:
        table.add_column(name, justify="right")
    cells = {(read["way"], read["filter"]): read_cell(read) for read in scope["reads"]}
    for way in dict.fromkeys(read["way"] for read in scope["reads"]):
        table.add_row(MEANINGS[way], *(cells.get((way, name), "") for name in filters))
    many = {read["filter"]: read["per_second"] for read in scope["reads"] if read["way"] == "http_many"}
    table.add_row("searches a second, 16 clients", *(str(many.get(name, "")) for name in filters))
    return table


def read_cell(read: Mapping[str, Any]) -> str:
    ratio = "" if read["ratio"] is None else f" x{read['ratio']:.1f}"
    return f"{read['p50_ms']:.2f}{ratio} {read['recall']:.3f}{'' if read['complete'] == 1.0 else '!'}"


def _stages(scope: Mapping[str, Any]) -> Table:
    title = "the parts of a search, median ms; least: the quickest correct raw way, then the rows by SQL"
    table = Table(title=f"{scope['rows']:,} memories: {title}")
    names = [name for name in scope["stages"][0] if name != "filter"]
    table.add_column("filter")
    for name in names:
        table.add_column(name.removesuffix("_ms").replace("_", " "), justify="right")
    for stages in scope["stages"]:
        cells = (stages[name] for name in names)
        table.add_row(stages["filter"], *(cell if isinstance(cell, str) else f"{cell:.2f}" for cell in cells))
    return table


def _writes(scope: Mapping[str, Any]) -> Table:
    table = Table(title=f"Single writes among {scope['rows']:,} memories")
    for name in ("way", "median ms", "95% ms", "a second", "times SQL", "what came of them"):
        table.add_column(name, justify="left" if name in {"way", "what came of them"} else "right")
    for each in scope["writes"]:
        came = ", ".join(f"{action} {count}" for action, count in each["actions"].items())
        times = f"{each['p50_ms']:.2f}", f"{each['p95_ms']:.2f}", str(each["per_second"])
        table.add_row(MEANINGS[each["way"]], *times, f"x{each['ratio']:.1f}", came)
    return table


def _making(scope: Mapping[str, Any]) -> Table:
    table = Table(title=f"Making {scope['rows']:,} memories ready: seconds, megabytes")
    table.add_column("what")
    table.add_column("figure", justify="right")
    for name, value in scope["making"].items():
        table.add_row(name.replace("_", " "), str(value))
    return table
