"""Notes over REST."""
