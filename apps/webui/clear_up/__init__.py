"""What is to be cleared up: two memories that disagree, of which a person says which is right."""
