"""Settings of the OpenAPI document and of the page that shows it, and the sections of both."""

from typing import Any, NamedTuple


class Section(NamedTuple):
    """A group of operations. starts: of their paths below /api/, with the method where another one is elsewhere."""

    name: str
    about: str
    starts: tuple[str, ...]


# What most applications need comes first. An operation is in the section with the longest start that fits.
SECTIONS = (
    Section("Save", "Save what was learnt.", ("POST semantic/memories", "POST semantic/memories/batch")),
    Section("Context", "What an assistant should know, in one call.", ("context",)),
    Section("Search", "Ask for memories by meaning and words.", ("semantic/search",)),
    Section("Timeline", "Record what happened and when, and find it again.", ("episodic/",)),
    Section("Decisions", "What the hub decided where memories contradict each other.", ("semantic/conflicts",)),
    Section(
        "Memories",
        "List, change, reinforce, delete and restore memories.",
        ("semantic/", "semantic/memories/", "POST semantic/memories/", "POST semantic/memories/delete", "types"),
    ),
    Section("People", "Who there is; everything of a person, exported or forgotten.",
            ("users", "households", "personas", "memberships", "projects", "sessions", "erasures", "export")),
    Section("Notes", "Notes in Markdown, and their versions.", ("memory/",)),
    Section("Conversations", "Learn facts from what is said.", ("auto-memory/",)),
    Section("Knowledge", "Decisions and documents of repositories.", ("sync/",)),
    Section("Store", "Values that applications keep by namespace and key.", ("store",)),
    Section("Rules", "The rules by which the hub decides.", ("rules",)),
    Section("Models", "Chat models, and tools that models may use.", ("llm/",)),
    Section("Keys", "Keys of applications.", ("keys", "connect")),
)  # fmt: skip


def section_of(method: str, path: str) -> str:
    """Return the name of the section of an operation. Raises LookupError where none is for it."""
    below = path.removeprefix("/api/")
    fitting = {
        start: section.name
        for section in SECTIONS
        for start in section.starts
        if f"{method} {below}".startswith(start) or below.startswith(start)
    }
    if not fitting:
        raise LookupError(f"{method} {path} is in no section of memoryhub/config/api.py.")
    return fitting[max(fitting, key=len)]


API_SECTION_OF = "memoryhub.config.api.section_of"
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "MemoryHub",
    "DESCRIPTION": "Save what you learn, and ask for it back by meaning, keyword and time.",
    "VERSION": "0.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    # The key stays in the browser until *Logout*, so that a reload does not ask for it again.
    "SWAGGER_UI_SETTINGS": {
        # Addresses of operations would be written as errors to the console: it dislikes the `_` in their ids.
        "deepLinking": False,
        "persistAuthorization": True,
        "displayRequestDuration": True,
        "defaultModelsExpandDepth": 0,
    },
    "TAGS": [{"name": section.name, "description": section.about} for section in SECTIONS],
    "COMPONENT_SPLIT_REQUEST": True,
    "SCHEMA_PATH_PREFIX": "/api/",
    "ENUM_NAME_OVERRIDES": {
        "WriteOriginEnum": "apps.core.schemas.origins.NAMES",
        "DecisionOriginEnum": "apps.semantic.models.Origin",
        "SaveActionEnum": "apps.semantic.schemas.memories.SAVE_ACTIONS",
        "RevisionActionEnum": "apps.semantic.models.RevisionAction",
        "RecordActionEnum": "apps.episodic.schemas.events.RECORD_ACTIONS",
        "SegmentStateEnum": "apps.episodic.models.segment.SEGMENT_STATE_CHOICES",
        "SegmentRowsEnum": "apps.episodic.models.segment.ROWS_STATE_CHOICES",
        "WarningKindEnum": "apps.episodic.models.segment.WARNING_KIND_CHOICES",
        "WarningSeverityEnum": "apps.episodic.models.segment.SEVERITY_CHOICES",
        "NoteChangeEnum": "apps.notes.models.ChangeKind",
        "CompactionStateEnum": "apps.notes.models.CompactionState",
        "AddedOrKnownEnum": "apps.notes.schemas.notes.ADDED_OR_KNOWN",
        "ModelRoleEnum": "apps.llm.schemas.models.ROLES",
        "SessionEventActionEnum": "apps.notes.schemas.conversations.EVENT_ACTIONS",
        "MessageRoleEnum": "apps.notes.models.MessageRole",
        "ExtractionStateEnum": "apps.notes.models.RunState",
        "LearntFactStateEnum": "apps.notes.models.FactState",
        "FactActionEnum": "apps.notes.schemas.compaction.FACT_ACTIONS",
        "ConflictStateEnum": "apps.semantic.models.ReviewState",
        "TimelineReadinessEnum": "apps.episodic.schemas.timeline.READINESS",
        "ConflictSideEnum": "apps.rules.domain.engine.arbitration.SIDES",
        "MemoryStatusEnum": "apps.semantic.models.MemoryStatus",
        "NoteSearchModeEnum": "apps.notes.schemas.search.MODES",
        "SearchModeEnum": ["hybrid", "vector", "keyword"],
        "SourceKindEnum": "apps.sync.models.SourceKind",
        "KnowledgeLayerEnum": "apps.sync.models.LayerChoices",
        "KnowledgeConventionEnum": "apps.sync.models.ConventionChoices",
        "KnowledgeTypeEnum": "apps.sync.models.ItemTypeChoices",
        "KnowledgeStatusEnum": "apps.sync.models.ItemStatusChoices",
        "SyncKindEnum": "apps.sync.models.SyncKind",
        "RequestedSyncKindEnum": "apps.sync.schemas.runs.REQUESTED_KINDS",
        "SyncRunStateEnum": "apps.sync.models.SyncRunState",
        "PointerActionEnum": "apps.sync.models.PointerActionChoices",
        "PointerConflictTypeEnum": "apps.sync.models.ConflictTypeChoices",
        "PointerConflictStateEnum": "apps.sync.models.SyncConflictState",
        "PointerResolutionEnum": "apps.sync.models.ResolutionChoices",
        "PointerDecisionEnum": "apps.sync.schemas.conflicts.DECISIONS",
        "ConstraintSeverityEnum": "apps.sync.schemas.items.SEVERITIES",
        "ToolProtocolEnum": "apps.llm.schemas.tools.PROTOCOLS",
        "ToolBlockProtocolEnum": "apps.llm.schemas.tools.BLOCK_PROTOCOLS",
        "ToolModeEnum": "apps.llm.schemas.tools.MODES",
        "ToolOutcomeEnum": "apps.llm.schemas.tools.TOOL_OUTCOMES",
    },
}
