"""Tasks of the audit. Queued tasks hold their paths, so functions here are neither moved nor renamed."""

from apps.audit.services import audit_trim


def trim() -> str:
    """Delete entries that are older than the retention."""
    return f"{audit_trim()} entries deleted"
