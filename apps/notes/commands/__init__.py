"""The file commands of Anthropic's memory tool over the notes of a user."""
