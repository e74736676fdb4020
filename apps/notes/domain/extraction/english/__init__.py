"""Facts of English sentences."""
