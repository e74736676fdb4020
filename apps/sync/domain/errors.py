"""Why a sync did not do all that was asked, by stable codes (spec 003, error handling)."""

from apps.core.domain.errors import NotFoundError, UnavailableError

KNOWLEDGE_UNAVAILABLE = "KNOWLEDGE_UNAVAILABLE"
STATE_CORRUPTED = "STATE_CORRUPTED"
PARTIAL_FAILURE = "PARTIAL_FAILURE"
# Of a run that found files, and no item in them.
NO_ITEMS = "NO_ITEMS"


class KnowledgeUnavailableError(UnavailableError):
    """The repository or folder of a source cannot be read now; a later try may succeed."""

    code = KNOWLEDGE_UNAVAILABLE
    is_retryable = True


class CommitGoneError(NotFoundError):
    """The last synced commit is not in the repository any more, or not in the history of its branch."""

    code = "commit_gone"


class StateCorruptedError(UnavailableError):
    """What was stored about the last sync does not match its checksum."""

    code = STATE_CORRUPTED
