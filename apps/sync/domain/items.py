"""From the files of a source to its items: the same items whatever order the files come in, and whatever was before."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from apps.sync.domain.knowledge import ItemStatus, KnowledgeItem, ParsedFile, RefusedFile
from apps.sync.domain.references import NameIndex, clean_reference, fold

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


@dataclass(frozen=True, slots=True)
class Derived:
    """The items of a source by id, in order of ids, and the files that another file's id keeps out, by path."""

    items: dict[str, KnowledgeItem]
    refused: tuple[RefusedFile, ...] = ()


@dataclass(slots=True)
class Relations:
    """Which items supersede which, by id."""

    supersedes: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    superseded_by: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def derive_items(files: Iterable[ParsedFile], basis: str = "", *, remembered: Collection[str] = frozenset()) -> Derived:
    """Return the items of a source and what was refused.

    basis: what else its pointers are written from, such as the name of the source; it is part of each hash, so that
    they are written again when it changes. remembered: paths of files that cannot be read now and are as they were read
    last.
    """
    selected, refused = select_files(join_metadata(files), remembered)
    relations = relate(selected)
    items = {file.item_id: build_item(file, relations, basis) for file in selected.values()}
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


def relate(files: Mapping[str, ParsedFile]) -> Relations:
    """Return what supersedes what, of files by folded id.

    What a file says of another item counts once it has been accepted; a reference to none or to several is left out.
    What it says of itself counts whatever the other item is. Where it names no item of the source, or several, the
    reference stays as it is written; a path only if nothing else is named, as it may be one of two readings.
    """
    relations = Relations()
    referring = [file for file in files.values() if file.supersedes or file.superseded_by]
    references = (reference for file in referring for reference in (*file.supersedes, *file.superseded_by))
    names = NameIndex(files, map(clean_reference, references))
    for file in referring:
        for reference in map(clean_reference, file.supersedes):
            other = names.find(reference, file)
            if other and other is not file:
                relations.supersedes[file.item_id].add(other.item_id)
                if file.status in HAS_HELD:
                    relations.superseded_by[other.item_id].add(file.item_id)
        successors = {clean_reference(one): names.find(clean_reference(one), file) for one in file.superseded_by}
        items = {other.item_id for other in successors.values() if other and other is not file}
        for item_id in items:
            relations.supersedes[item_id].add(file.item_id)
        unknown = {one for one, other in successors.items() if one and other is None}
        named = {one for one in unknown if "/" not in one} or (set() if items else unknown)
        if items or named:
            relations.superseded_by[file.item_id] |= items | named
    return relations


def build_item(file: ParsedFile, relations: Relations, basis: str) -> KnowledgeItem:
    """Return the item of a file. One that was rejected never held, so it is not superseded, whatever came instead."""
    superseded_by = ordered(relations.superseded_by.get(file.item_id))
    supersedes = ordered(relations.supersedes.get(file.item_id))
    status = file.status
    if superseded_by and status is not ItemStatus.REJECTED:
        status = ItemStatus.SUPERSEDED
    return KnowledgeItem(
        item_id=file.item_id,
        path=file.path,
        type=file.type,
        title=file.title,
        summary=file.summary,
        status=status,
        layer=file.layer,
        hash=hash_item(file, status, supersedes, superseded_by, basis),
        constraints=file.constraints,
        tags=file.tags,
        supersedes=supersedes,
        superseded_by=superseded_by,
    )


def ordered(names: set[str] | None) -> tuple[str, ...]:
    """Return names in order, as they are kept."""
    return tuple(sorted(names)) if names else ()


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
