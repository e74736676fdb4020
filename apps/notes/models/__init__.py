"""Tables of notes, conversations and what was learnt from them."""

from apps.notes.models.conversations import (
    Conversation,
    ConversationMessage,
    ExtractedFact,
    ExtractionRun,
    FactState,
    MessageRole,
    RunState,
    RunTrigger,
)
from apps.notes.models.versions import MAX_PLACE_CHARS, ChangeKind, Compaction, CompactionState, NoteVersion
