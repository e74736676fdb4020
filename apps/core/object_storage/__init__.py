"""Files in an S3-compatible store, for hubs of several hosts (docs/decisions/0100)."""
