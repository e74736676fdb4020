"""The pieces of text that the delivered models read, and their vectors (docs/decisions/0102)."""
