"""Ask as an assistant would: what it would get, and what is missing and why."""
