"""People: one row a person, their page, and exporting and forgetting them."""
