"""The people's web UI: what the hub keeps about the person who is signed in, at `/`."""
