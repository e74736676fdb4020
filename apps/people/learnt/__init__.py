"""What keys learnt of people: how much it is, and forgetting all of it."""
