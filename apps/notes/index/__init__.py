"""The search index of notes: one SQLite database for each user, made of the files and deleted without loss."""
