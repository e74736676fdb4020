"""The personal data of the memories: how it is exported, loaded and forgotten."""
