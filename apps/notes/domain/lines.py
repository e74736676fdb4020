"""The lines of a text, and how often items of lists are in it."""

from collections import Counter, defaultdict
from itertools import accumulate

from apps.notes.domain.text import Heading, headings, headings_above


class Lines:
    """The lines of a text, whatever its line ends."""

    def __init__(self, text: bytes) -> None:
        self.lines = text.replace(b"\r\n", b"\n").split(b"\n")
        self._places: defaultdict[bytes, list[int]] = defaultdict(list)
        for number, line in enumerate(self.lines):
            self._places[line].append(number)

    def places(self, item: bytes) -> list[int]:
        """Return the numbers, from 0, of the lines at which an item begins; its lines follow each other."""
        wanted = item.split(b"\n")
        return [
            number for number in self._places.get(wanted[0], ()) if self.lines[number : number + len(wanted)] == wanted
        ]

    def count(self, item: bytes) -> int:
        """Return how often an item is in the text as lines of its own."""
        return len(self.places(item))


class Sections:
    """Under which headings the items of a text are."""

    def __init__(self, text: bytes) -> None:
        self._lines = Lines(text)
        self._starts = list(accumulate((len(line) + 1 for line in self._lines.lines), initial=0))
        self._headings = headings(b"\n".join(self._lines.lines))

    def above(self, item: bytes) -> tuple[Heading, ...]:
        """Return the headings that the last of these items is under, the nearest one first."""
        places = self._lines.places(item)
        return headings_above(self._headings, self._starts[places[-1]]) if places else ()


def missing_lines(lines: bytes, reference: bytes, text: bytes) -> bytes:
    """Return the lines, with their ends, that a text has less often than a reference that has all of them."""
    wanted, there = Lines(reference), Lines(text)
    left = Counter({line: wanted.count(line) - there.count(line) for line in lines.splitlines()})
    missing: list[bytes] = []
    for line in lines.splitlines(keepends=True):
        if left[line.rstrip(b"\r\n")] > 0:
            left[line.rstrip(b"\r\n")] -= 1
            missing.append(line)
    return b"".join(missing)
