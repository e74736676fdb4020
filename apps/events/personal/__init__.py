"""The personal data in the outbox."""
