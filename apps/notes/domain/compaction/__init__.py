"""A shorter MEMORY.md: its lists, what a model says of them, and whether that keeps what they say."""
