"""The store over REST."""
