"""The personal data in the records of calls of chat models."""
