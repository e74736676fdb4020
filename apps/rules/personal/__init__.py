"""The personal data in rules, whose conditions may name a user."""
