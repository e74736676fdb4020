"""What knowledge is made of: the words of an item, a file as it was read, and an item as it is synced."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class ItemType(StrEnum):
    """What kind of knowledge an item is."""

    ADR = "adr"
    POLICY = "policy"
    PATTERN = "pattern"
    SPEC = "spec"

    @property
    def mark(self) -> str:
        """Return what a pointer begins with, such as `[ADR]`."""
        return f"[{self.value.upper()}]"


class Layer(StrEnum):
    """For whom knowledge holds."""

    COMPANY = "company"
    ORG = "org"
    TEAM = "team"
    PROJECT = "project"


class ItemStatus(StrEnum):
    """Where an item is in its life. UNKNOWN: its status was written in words that are not known; it is not in force."""

    DRAFT = "draft"
    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    DEPRECATED = "deprecated"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"
    UNKNOWN = "unknown"


class Severity(StrEnum):
    """How strictly a constraint holds."""

    BLOCKING = "blocking"
    WARNING = "warning"
    INFO = "info"


class Convention(StrEnum):
    """How the files of a source are written. AUTO: recognised file by file."""

    AUTO = "auto"
    FRONT_MATTER = "front_matter"
    DECISION_RECORD = "decision_record"
    HEADERS = "headers"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Constraint:
    """A rule that an item lays down."""

    text: str
    severity: Severity = Severity.BLOCKING


@dataclass(frozen=True, slots=True)
class ReadMapping:
    """What a source says of its own words. Names and texts are folded as `readers.text.fold` does, texts in lower case.

    fields: name in files -> ours, such as `stage` -> `status`. statuses: text -> status. kinds: folder -> kind of the
    numbers in it, such as `text` -> `RFC`.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    statuses: Mapping[str, ItemStatus] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """How the files of a source are read. layer: of items that name none. max_bytes: of a file.

    only_known: leave out texts of which nothing says what kind of knowledge they are.
    """

    convention: Convention = Convention.AUTO
    layer: Layer = Layer.TEAM
    max_bytes: int = 1_000_000
    mapping: ReadMapping = field(default_factory=ReadMapping)
    only_known: bool = False


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file as it was read.

    path: in the source, with slashes. aliases: names besides the id by which others may refer to it, such as
    `ADR-0012`, `12` and the path. supersedes, superseded_by: references as they are written. text_hash: sha-256 of the
    bytes, in hex. convention: how it was read.
    """

    path: str
    item_id: str
    type: ItemType
    title: str
    summary: str
    status: ItemStatus
    layer: Layer
    text_hash: str
    convention: Convention
    constraints: tuple[Constraint, ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusedFile:
    """A file that became no item. code: why, as a stable word. detail: for people, without content of the file."""

    path: str
    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class KnowledgeItem:
    """An item as it is synced: one file, and what other files say about it.

    status: superseded as soon as another item that was accepted says so, unless it was rejected. supersedes: ids of
    items, sorted. superseded_by: as well; or what the file itself names, where that is no item of the source. hash:
    over content, constraints and status (with what supersedes it); sha-256 in hex.
    """

    item_id: str
    path: str
    type: ItemType
    title: str
    summary: str
    status: ItemStatus
    layer: Layer
    hash: str
    constraints: tuple[Constraint, ...] = ()
    tags: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
