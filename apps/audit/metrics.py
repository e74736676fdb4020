"""Prometheus metrics of the audit."""

from prometheus_client import Counter

AUDIT_LOST = Counter("memoryhub_audit_lost", "Acts whose entry in the audit could not be written.")
