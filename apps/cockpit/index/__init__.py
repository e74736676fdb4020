"""Index: what searches work on, in every process."""
