"""Sources of knowledge, their items, and their syncs."""

from apps.sync.models.runs import (
    ConflictTypeChoices,
    PointerActionChoices,
    PointerConflict,
    ResolutionChoices,
    SyncChange,
    SyncCheckpoint,
    SyncConflictState,
    SyncKind,
    SyncRun,
    SyncRunState,
)
from apps.sync.models.sources import (
    MAX_ITEM_ID_CHARS,
    MAX_NAME_CHARS,
    MAX_PATH_CHARS,
    MAX_PATTERNS,
    ConventionChoices,
    ItemStatusChoices,
    ItemTypeChoices,
    KnowledgeFile,
    KnowledgeItem,
    KnowledgeSource,
    LayerChoices,
    SourceKind,
    SyncState,
    WebhookDelivery,
)
