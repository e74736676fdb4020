"""What deciding about memories works on: the candidate, what all candidates of a save share, and a case to apply."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from apps.core.domain.scope import Scope
from apps.llm.selectors import EmbeddingSpace
from apps.rules.domain.documents.rule import RuleConfig
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.verdict import Verdict
from apps.rules.selectors import RuleSet
from apps.semantic.domain.duplicates import DatedKey, DuplicateKey
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Conflict, Memory, Origin
from apps.semantic.store.embedding_space import TextVectors
from apps.semantic.store.rows import Vector


@dataclass(frozen=True, eq=False)
class SaveContext:
    """What deciding about memories depends on besides them. vectors: in `space`, of texts that arise on the way."""

    space: EmbeddingSpace
    rules: RuleSet
    vectors: TextVectors


@dataclass(eq=False)
class Candidate:
    """A draft with all that is computed before it becomes a row.

    uuid: of its row. scope: of its row (see `Access.for_write`). key: what its duplicates have in common with it, with
    the exact scope: a household or persona that it does not have is the empty string. words: its `word_columns`.
    vector: None for a duplicate, which needs none. record, rule: as the rule engine sees it, and the rule that applies
    to it; set when it is compared. stored: the primary key of the memory that it changes, None for a new one.
    """

    uuid: UUID
    draft: MemoryDraft
    scope: Scope
    key: DuplicateKey
    words: Mapping[str, Any]
    vector: Vector | None
    stored: int | None = None
    record: MemoryRecord = field(init=False)
    rule: RuleConfig = field(init=False)

    @property
    def dated_key(self) -> DatedKey:
        """Return its key with the moment that its writer gave."""
        return self.key, self.draft.occurred_at


@dataclass(frozen=True, eq=False)
class Case:
    """A verdict about the memory of `record`, with all that is needed to apply it.

    memories: it and all that the verdict names, by the key of their records. arrival: what is to be inserted; None for
    a memory that is stored. reason: for its history. about: the receipt whose place this decision takes.
    """

    verdict: Verdict
    record: MemoryRecord
    rule: RuleConfig
    memories: Mapping[str, Memory]
    origin: Origin
    arrival: Candidate | None = None
    reason: str = ""
    about: Conflict | None = None

    @property
    def candidate(self) -> Memory:
        """Return the memory that the verdict is about."""
        return self.memories[self.record.key]

    @property
    def existing(self) -> Memory:
        """Return the memory that it was decided against."""
        return self.memories[self.verdict.main.conflict.existing.key]

    @property
    def also(self) -> list[Memory]:
        """Return the memories that are superseded together with the existing one."""
        return [self.memories[one.conflict.existing.key] for one in self.verdict.also]
