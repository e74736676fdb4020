"""The personal data in accounts."""
