"""Items of the store as personal data."""
