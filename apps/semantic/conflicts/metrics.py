"""Prometheus metrics of reviews."""

from prometheus_client import Counter

ACCEPTED = Counter("memoryhub_conflicts_accepted", "Decisions that a person has accepted.")
