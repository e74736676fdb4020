"""First steps: what leads the owner of a fresh hub to the first key, the first memory and the first search."""
