"""Benchmark figures as a picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.vectors.figures import CORRECT_RECALL, is_correct
from benchmarks.vectors.tables import MEANINGS

# In the order of the legend; the colours can be distinguished by people who are colour-blind.
COLOURS = {
    "sql_exact": "#999999",
    "sql_hnsw": "#56b4e9",
    "sql_hnsw_iterative": "#0072b2",
    "hnswlib": "#e69f00",
    "numpy": "#f0e442",
    "rank": "#dddddd",
    "index": "#b2df8a",
    "service": "#009e73",
    "http": "#cc79a7",
    "http_many": "#d55e00",
}
_GROUP = 0.8
_HEIGHT = 3.4


class PlottingMissingError(Exception):
    """What is needed for plots is not installed; the text says what."""


def check_plotting() -> None:
    """Raise PlottingMissingError before anything is measured in vain."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        detail = "A plot needs matplotlib, which is in the group of development dependencies: uv sync --group dev"
        raise PlottingMissingError(detail) from error


def plot_reads(figures: Mapping[str, Any], path: Path) -> None:
    """Median times of searches as bars, one panel for each scope; hatched where recall is too low. Raises OSError."""
    check_plotting()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    scopes = figures["scopes"]
    figure = Figure(figsize=(11, _HEIGHT * len(scopes)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(scopes), 1, squeeze=False)
    for panel, scope in zip(panels[:, 0], scopes, strict=True):
        _panel(panel, scope["rows"], scope["reads"])
    panels[0, 0].legend(ncols=5, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.15))
    figure.savefig(path, format="png", dpi=120)


def _panel(panel: Any, rows: int, reads: Sequence[Mapping[str, Any]]) -> None:
    filters = list(dict.fromkeys(read["filter"] for read in reads))
    ways = [way for way in COLOURS if any(read["way"] == way for read in reads)]
    width = _GROUP / max(len(ways), 1)
    for number, way in enumerate(ways):
        mine = [read for read in reads if read["way"] == way]
        places = [filters.index(read["filter"]) + (number + 0.5) * width - _GROUP / 2 for read in mine]
        bars = panel.bar(places, [read["p50_ms"] for read in mine], width, label=MEANINGS[way], color=COLOURS[way])
        for bar, read in zip(bars, mine, strict=True):
            if not is_correct(read):
                bar.set_hatch("////")
    panel.set_yscale("log")
    panel.set_xticks(range(len(filters)), filters)
    panel.set_ylabel("median, ms")
    panel.set_title(
        f"{rows:,} memories (hatched: recall@10 below {CORRECT_RECALL}, or results missing)", fontsize="medium"
    )
    panel.grid(axis="y", alpha=0.3)
