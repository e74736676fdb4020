"""Privacy: downloading and forgetting everything, how long things are kept, and who looked."""
