"""Asking chat models about notes."""
