"""Names, places and texts of notes; no Django."""
