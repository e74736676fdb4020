"""How pages are shown to a person: language and time zone; and the ways to sign-in and memory settings."""
