"""Access: which keys there are, how far they reach, and how they are used."""
