"""The one table of tools that models may request (spec 000 "ABP tool request parsing").

The dotted paths of `apps.llm.domain.tools.Tool` objects. An app above `llm` offers its tools here, so that `llm`
need not know it.
"""

TOOLS: tuple[str, ...] = (
    "apps.semantic.tools.MEMORY_SAVE",
    "apps.semantic.tools.MEMORY_SEARCH",
    "apps.semantic.tools.MEMORY_REINFORCE",
    "apps.episodic.tools.EVENT_RECORD",
    "apps.episodic.tools.EVENT_QUERY",
    "apps.notes.tools.READ_MEMORY",
    "apps.notes.tools.APPEND_MEMORY",
    "apps.notes.tools.SEARCH_MEMORY",
    "apps.notes.tools.APPEND_DAILY_LOG",
    "apps.notes.tools.MEMORY",
    "apps.sync.tools.KNOWLEDGE_READ",
)
