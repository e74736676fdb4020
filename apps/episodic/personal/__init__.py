"""The personal data of the timeline: how it is exported, loaded and forgotten."""
