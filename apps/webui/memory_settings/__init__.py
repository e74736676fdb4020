"""Settings > Memory of a person: MEMORY.md, what is learned by itself, and what models do (spec 001, settings UI)."""
