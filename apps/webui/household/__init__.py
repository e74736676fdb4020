"""Household: what of a person's is shared, with whom, and who may see what."""
