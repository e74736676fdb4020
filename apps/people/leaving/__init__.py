"""A person asks that everything is forgotten, with days in which they can take it back."""
