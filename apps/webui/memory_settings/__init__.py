"""Settings > Memory of a person: MEMORY.md, learning, and what models do (spec 001, settings UI)."""
