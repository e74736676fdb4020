"""Invitations of people to their own pages: made, listed and revoked by operators."""
