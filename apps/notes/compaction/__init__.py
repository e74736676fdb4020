"""A shorter MEMORY.md by a chat model: asked for, drafted, checked, and applied when someone agrees."""
