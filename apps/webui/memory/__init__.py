"""One memory: what it says, why it is as it is, and what its person can do about it."""
