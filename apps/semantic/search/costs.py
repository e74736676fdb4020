"""The costs of searches on this machine, as `manage.py calibrate_search` measured them (DESIGN D9).

A small file beside the snapshots. It is a hint: without it, or with an implausible one, the costs of another machine
are assumed, and searches find the same.
"""

import json
import logging
import math
import os
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from django.conf import settings

from apps.retrieval.domain.planner import DEFAULT_COSTS, SearchCosts

logger = logging.getLogger(__name__)
FORMAT_VERSION = 1
_NAME = "search_costs.json"
# No machine is so many times quicker or slower than the one of DEFAULT_COSTS.
_PLAUSIBLE = 1_000.0
# The modification time of the file, None without one, and what was read from it.
_read: tuple[float | None, SearchCosts] | None = None


def costs_path() -> Path:
    """Return the path of the file."""
    path: Path = settings.SEMANTIC_INDEX_DIR / _NAME
    return path


def read_search_costs(dimension: int) -> SearchCosts:
    """Return what a search costs with vectors of this length. The file is read again when it has changed."""
    global _read
    try:  # every search does this: making a Path takes five times as long as asking the disk
        changed = os.stat(f"{settings.SEMANTIC_INDEX_DIR}/{_NAME}").st_mtime_ns  # noqa: PTH116
    except OSError:
        changed = None
    known = _read
    if known is None or known[0] != changed:
        known = _read = changed, DEFAULT_COSTS if changed is None else read_costs_file()
    return known[1].at(dimension)


def read_costs_file() -> SearchCosts:
    """Return the costs in the file; the default ones if it cannot be used."""
    try:
        return parse_costs(json.loads(costs_path().read_text()))
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        logger.warning("the costs of searches cannot be used (%s): calibrate_search measures them", error)
        return DEFAULT_COSTS


def parse_costs(data: dict[str, Any]) -> SearchCosts:
    """Return costs from JSON. Raises ValueError for implausible ones, KeyError for missing ones."""
    if data["format_version"] != FORMAT_VERSION:
        raise ValueError(f"format {data['format_version']}")
    costs = SearchCosts(**{field.name: data[field.name] for field in fields(SearchCosts)})
    if not isinstance(costs.dimension, int) or costs.dimension < 1:
        raise ValueError("dimension")
    usual = DEFAULT_COSTS.at(costs.dimension)
    for name in ("scan", "subset", "graph", "fixed"):
        value = getattr(costs, name)
        if not (math.isfinite(value) and 1 / _PLAUSIBLE <= value / getattr(usual, name) <= _PLAUSIBLE):
            raise ValueError(name)
    return costs


def write_search_costs(costs: SearchCosts) -> Path:
    """Have all processes that share the data directory use these costs from their next search on. Raises OSError."""
    path = costs_path()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.part")
    aside.write_text(json.dumps({"format_version": FORMAT_VERSION, **asdict(costs)}, indent=2) + "\n")
    aside.rename(path)
    return path
