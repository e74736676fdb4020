"""From the files of a source to its items: the same whatever order they come in, and what references mean."""

import hashlib
import json
import posixpath
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import unquote

from apps.sync.domain.knowledge import ItemStatus, KnowledgeItem, ParsedFile, RefusedFile

MAX_REFERENCE_CHARS = 200
# `12`, `#12`, `ADR-0012`, `adr 12: Use queues`, `0012-use-queues`; neither dates nor versions such as 3.2.
NUMBERED = re.compile(r"(?!\d{4}-\d\d-\d\d)(?:([a-z]{1,20})[\s_-]?)?#?(\d{1,9})(?!\.\d)(?:[\s_.:-].*)?", re.DOTALL)
DUPLICATE_ID = "duplicate_id"
MAX_NAMED_PATH_CHARS = 300
# Raised when pointers are to be written otherwise: then the next sync of each source writes all of them.
POINTER_FORMAT = 1
# Plain values only, so that there is no circle to look for.
ENCODER = json.JSONEncoder(check_circular=False)
# Files of metadata alone, and the names of the texts that they are about.
METADATA_NAMES = ("/kep.yaml", "/kep.yml")
MAIN_TEXTS = frozenset({"readme", "index"})
# Of an item that supersedes others: they stay superseded after it was deprecated or superseded itself.
HAS_HELD = frozenset({ItemStatus.ACCEPTED, ItemStatus.DEPRECATED, ItemStatus.SUPERSEDED})


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


@dataclass(frozen=True, slots=True)
class Derived:
    """The items of a source by id, in order of ids, and the files that another file's id keeps out, by path."""

    items: dict[str, KnowledgeItem]
    refused: tuple[RefusedFile, ...] = ()


# Which items others supersede, or are superseded by, by id.
Relations = dict[str, set[str]]


def derive_items(files: Iterable[ParsedFile], basis: str = "", *, remembered: Collection[str] = frozenset()) -> Derived:
    """Return the items of a source and what was refused.

    basis: what else its pointers are written from, such as the name of the source; it is part of each hash, so that
    they are written again when it changes. remembered: paths of files that cannot be read now and are as they were read
    last.
    """
    selected, refused = select_files(join_metadata(files), remembered)
    relations = relate(selected)
    items = {file.item_id: build_item(file, *relations, basis) for file in selected.values()}
    return Derived({item_id: items[item_id] for item_id in sorted(items)}, refused)


def join_metadata(files: Iterable[ParsedFile]) -> list[ParsedFile]:
    """Return files, those with metadata alone as part of the text beside them, such as `kep.yaml` of `README.md`.

    What the metadata say counts before what the text says; its summary, its path and the rest are those of the text.
    """
    files = list(files)
    metadata = {folder_of(file): file for file in files if is_metadata(file)}
    if not metadata:
        return files
    joined, folders = [], set()
    for file in files:
        said = metadata.get(folder_of(file))
        if said is None or said is file or file.path.rpartition("/")[2].partition(".")[0].casefold() not in MAIN_TEXTS:
            joined.append(file)
            continue
        folders.add(folder_of(file))
        joined.append(
            replace(
                file,
                item_id=said.item_id,
                title=said.title,
                status=said.status,
                summary=said.summary or file.summary,
                text_hash=hashlib.sha256(f"{file.text_hash}{said.text_hash}".encode()).hexdigest(),
                tags=said.tags or file.tags,
                aliases=tuple(sorted({*file.aliases, *said.aliases})),
                supersedes=said.supersedes or file.supersedes,
                superseded_by=said.superseded_by or file.superseded_by,
            )
        )
    return [file for file in joined if not (is_metadata(file) and folder_of(file) in folders)]


def is_metadata(file: ParsedFile) -> bool:
    """Return whether a file has nothing but metadata of a text beside it."""
    return file.path.endswith(METADATA_NAMES)


def folder_of(file: ParsedFile) -> str:
    """Return the folder of a file."""
    return file.path.rpartition("/")[0]


def select_files(
    files: Iterable[ParsedFile], remembered: Collection[str] = frozenset()
) -> tuple[dict[str, ParsedFile], tuple[RefusedFile, ...]]:
    """Return the files by folded id, and those that claim an id again: the first path has it.

    Ids that differ only in case are one id: file systems and people do not tell them apart. Remembered files come after
    those that can be read, and are no duplicates: they are reported for what is wrong with them.
    """
    first: dict[str, ParsedFile] = {}
    refused = []
    for file in sorted(files, key=lambda file: (file.path in remembered, file.path)):
        winner = first.setdefault(fold(file.item_id), file)
        if winner is not file and file.path not in remembered:
            path = winner.path[:MAX_NAMED_PATH_CHARS]
            refused.append(RefusedFile(file.path, DUPLICATE_ID, f"Its id belongs to {path}, which comes first."))
    return first, tuple(refused)


def relate(files: Mapping[str, ParsedFile]) -> tuple[Relations, Relations]:
    """Return what each item supersedes, and what it is superseded by, of files by folded id.

    What a file says of another item counts once it has been accepted; a reference to none or to several is left out.
    What it says of itself counts whatever the other item is. Where it names no item of the source, or several, the
    reference stays as it is written; a path only if nothing else is named, as it may be one of two readings.
    """
    supersedes: Relations = defaultdict(set)
    superseded_by: Relations = defaultdict(set)
    referring = [file for file in files.values() if file.supersedes or file.superseded_by]
    references = (reference for file in referring for reference in (*file.supersedes, *file.superseded_by))
    names = NameIndex(files, map(clean_reference, references))
    for file in referring:
        for reference in map(clean_reference, file.supersedes):
            other = names.find(reference, file)
            if other and other is not file:
                supersedes[file.item_id].add(other.item_id)
                if file.status in HAS_HELD:
                    superseded_by[other.item_id].add(file.item_id)
        successors = {clean_reference(one): names.find(clean_reference(one), file) for one in file.superseded_by}
        items = {other.item_id for other in successors.values() if other and other is not file}
        for item_id in items:
            supersedes[item_id].add(file.item_id)
        unknown = {one for one, other in successors.items() if one and other is None}
        named = {one for one in unknown if "/" not in one} or (set() if items else unknown)
        if items or named:
            superseded_by[file.item_id] |= items | named
    return supersedes, superseded_by


def build_item(file: ParsedFile, supersedes: Relations, superseded_by: Relations, basis: str) -> KnowledgeItem:
    """Return the item of a file. One that was rejected never held, so it is not superseded, whatever came instead."""
    former = tuple(sorted(supersedes.get(file.item_id, ())))
    successors = tuple(sorted(superseded_by.get(file.item_id, ())))
    status = file.status
    if successors and status is not ItemStatus.REJECTED:
        status = ItemStatus.SUPERSEDED
    return KnowledgeItem(
        item_id=file.item_id,
        path=file.path,
        type=file.type,
        title=file.title,
        summary=file.summary,
        status=status,
        layer=file.layer,
        hash=hash_item(file, status, former, successors, basis),
        constraints=file.constraints,
        tags=file.tags,
        supersedes=former,
        superseded_by=successors,
    )


def hash_item(
    file: ParsedFile, status: ItemStatus, supersedes: tuple[str, ...], superseded_by: tuple[str, ...], basis: str
) -> str:
    """Return the sha-256 of content, constraints and status in hex (spec 003, delta detection).

    Content is the text and what was read from it: a file may be read otherwise in another folder, or by a later
    version of the hub. The layer is compared on its own, and a path may change without the item.
    """
    constraints = [(one.severity, one.text) for one in file.constraints]
    read = [file.type, file.title, file.summary, file.tags]
    parts = [POINTER_FORMAT, basis, file.text_hash, read, constraints, status, supersedes, superseded_by]
    return hashlib.sha256(ENCODER.encode(parts).encode()).hexdigest()
