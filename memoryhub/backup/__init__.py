"""Backups of a whole hub, and restoring them (decision 0091)."""
