"""The notes of a person: MEMORY.md and the daily logs, read, edited, compared and brought back."""
