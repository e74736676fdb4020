"""Notes as personal data."""
