"""What the audit has about people: exported with them, and emptied of them."""
