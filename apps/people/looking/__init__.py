"""Operators look at the pages of a person: for a reason, for a while, and so that the person reads it."""
