"""Invitations: an operator makes a link, and the person who follows it chooses a password or a passkey."""
