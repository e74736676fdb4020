"""The lines of a text, and how often items of lists are in it."""

from collections import defaultdict


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
