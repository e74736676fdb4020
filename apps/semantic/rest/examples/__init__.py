"""Examples of the operations of memories, searches and conflicts."""

from apps.semantic.rest.examples import conflicts, memories, search

EXAMPLES = {**memories.EXAMPLES, **search.EXAMPLES, **conflicts.EXAMPLES}
