"""The list of everything that is known of a person."""
