"""The first page: what is known, what was learned lately, and what waits."""
