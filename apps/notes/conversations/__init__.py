"""Conversations of chat applications, and the extraction of facts from them (spec 001)."""
