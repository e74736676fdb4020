"""Which item a reference such as `ADR-0012`, `12` or `../adr/0012-use-queues.md` means."""

import posixpath
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from urllib.parse import unquote

from apps.sync.domain.knowledge import ParsedFile

MAX_REFERENCE_CHARS = 200
# `12`, `#12`, `ADR-0012`, `adr 12: Use queues`, `0012-use-queues`; neither dates nor versions such as 3.2.
NUMBERED = re.compile(r"(?!\d{4}-\d\d-\d\d)(?:([a-z]{1,20})[\s_-]?)?#?(\d{1,9})(?!\.\d)(?:[\s_.:-].*)?", re.DOTALL)


def fold(name: str) -> str:
    """Return the form in which names are compared: without case, and composed as in NFC."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def clean_reference(text: str) -> str:
    """Return a reference on one line, cut where it is longer than a reference can be."""
    return " ".join(text.split())[:MAX_REFERENCE_CHARS].rstrip()


def numbered(name: str) -> tuple[str, int] | None:
    """Return the prefix and the number of a folded name, such as ("adr", 12), or None."""
    match = NUMBERED.fullmatch(name)
    return (match[1] or "", int(match[2])) if match else None


def target_of(name: str) -> str:
    """Return the path in a folded reference, without the place in the file that a link may name."""
    return unquote(name.partition("#")[0])


def target_name(name: str) -> str:
    """Return the file name in a folded reference."""
    return target_of(name).rpartition("/")[2]


class NameIndex:
    """The names of files by how strongly a name binds: id, path, alias, file name, number.

    It has only names that a reference asks for and that are no ids, and is built when the first one asks.
    """

    def __init__(self, ids: Mapping[str, ParsedFile], references: Iterable[str]) -> None:
        """Use the files, by their folded ids, for these references."""
        self.ids = ids
        self.wanted = {fold(reference) for reference in references} - ids.keys()

    @cached_property
    def paths(self) -> dict[str, ParsedFile]:
        """Return the files by folded path."""
        return {fold(file.path): file for file in self.ids.values()}

    @cached_property
    def aliases(self) -> dict[str, list[ParsedFile]]:
        """Return the files by folded alias."""
        found: dict[str, list[ParsedFile]] = defaultdict(list)
        for file in self.ids.values():
            for alias in self.wanted.intersection(map(fold, file.aliases)):
                found[alias].append(file)
        return found

    @cached_property
    def file_names(self) -> dict[str, list[ParsedFile]]:
        """Return the files by folded file name, with and without its extension."""
        wanted = {target_name(name) for name in self.wanted}
        found: dict[str, list[ParsedFile]] = defaultdict(list)
        for path, file in self.paths.items():
            name = path.rpartition("/")[2]
            for one in wanted.intersection((name, name.rpartition(".")[0])):
                found[one].append(file)
        return found

    @cached_property
    def numbers(self) -> dict[int, list[tuple[set[str], ParsedFile]]]:
        """Return the files by the numbers in their ids and file names, each with the prefixes of the number."""
        wanted = {form[1] for form in map(numbered, self.wanted) if form}
        found: dict[int, list[tuple[set[str], ParsedFile]]] = defaultdict(list)
        for path, file in self.paths.items() if wanted else ():
            prefixes: dict[int, set[str]] = {}
            for name in (fold(file.item_id).rpartition("/")[2], path.rpartition("/")[2]):
                form = numbered(name)
                if form and form[1] in wanted:
                    prefixes.setdefault(form[1], set()).add(form[0])
            for number, of_number in prefixes.items():
                found[number].append((of_number, file))
        return found

    def find(self, reference: str, origin: ParsedFile) -> ParsedFile | None:
        """Return the file that a reference in another file means; None for an unknown or an ambiguous one.

        The first kind of name that any file has decides. Of several files with that name, the only one in the folder of
        the origin is meant, since numbers begin at 1 in each folder.
        """
        folder = posixpath.dirname(origin.path)
        candidates: list[ParsedFile] = next(filter(None, self.candidates(reference, folder)), [])
        if len(candidates) > 1:
            candidates = [one for one in candidates if posixpath.dirname(one.path) == folder]
        return candidates[0] if len(candidates) == 1 else None

    def candidates(self, reference: str, folder: str) -> Iterator[list[ParsedFile]]:
        """Yield the files that are meant, one kind of name after the other. An address of the web means none."""
        name = fold(reference)
        if "://" in name:
            return
        yield [self.ids[name]] if name in self.ids else []
        target = target_of(name)
        for path in (posixpath.normpath(posixpath.join(fold(folder), target)), posixpath.normpath(target.lstrip("/"))):
            yield [self.paths[path]] if path in self.paths else []
        yield self.aliases.get(name, [])
        yield self.file_names.get(target_name(name), [])
        yield from self.with_number(name)

    def with_number(self, name: str) -> Iterator[list[ParsedFile]]:
        """Yield the files with a prefix and number, then those with the number alone whose type is the prefix."""
        form = numbered(name)
        if form is None:
            return
        prefix, number = form
        found = self.numbers.get(number, [])
        yield [file for prefixes, file in found if not prefix or prefix in prefixes]
        yield [file for prefixes, file in found if prefixes == {""} and file.type == prefix]
