"""Connecting an app by a code that a person types on their pages (in the manner of RFC 8628)."""
