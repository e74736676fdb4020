"""A person downloads everything: a ZIP file is made in the background, kept for a while, and removed."""
