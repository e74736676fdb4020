"""One page of the stream, and how it goes on."""

from dataclasses import dataclass
from datetime import datetime

from apps.cockpit.activity.sources import SOURCES, Asked, Found
from apps.cockpit.domain.activity import Entry, Group, Places, group, merge

GROUPS = 40


@dataclass(frozen=True)
class StreamPage:
    """Groups, the latest first. older: where the next page begins, None at the end. searched: back to when, where the
    search of a source was cut off before its end."""

    groups: list[Group]
    older: Places | None
    searched: datetime | None


def read_page(asked: Asked, places: Places) -> StreamPage:
    """Return the page below these places.

    What is older than the point to which every source was read waits for the next page, so that none is left out.
    """
    found = {source.name: source.read(asked, places.before(source.name)) for source in SOURCES}
    horizon = max((one.reached for one in found.values() if one.reached is not None), default=None)
    entries = [entry for entry in merge(one.entries for one in found.values()) if is_within(entry, horizon)]
    groups, taken = group(entries, GROUPS)
    is_cut = len(taken) < len(entries)
    older = places.moved(taken)
    if not is_cut:
        older = below_windows(older, found, horizon)
    is_end = not is_cut and horizon is None
    searched = None if is_cut or all(one.floor is None for one in found.values()) else horizon
    return StreamPage(groups, None if is_end else older, searched)


def is_within(entry: Entry, horizon: datetime | None) -> bool:
    """Return whether an entry is as new as the point to which every source was read."""
    return horizon is None or entry.at >= horizon


def below_windows(places: Places, found: dict[str, Found], horizon: datetime | None) -> Places:
    """Return the places with those sources moved below their windows whose every entry was taken."""
    moved = dict(places.by_source)
    for name, one in found.items():
        if one.floor is not None and all(is_within(entry, horizon) for entry in one.entries) and one.reached == horizon:
            moved[name] = one.floor
    return Places(moved)
