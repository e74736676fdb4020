"""The palette: what Ctrl+K finds among pages, memories, people, decisions and keys."""
