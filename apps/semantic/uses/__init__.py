"""Which applications got a memory as an answer: counted in memory, and written every few seconds."""
