"""Bringing what a person has in other programs: uploading, looking, bringing in, undoing."""
