"""Fixtures of all integration tests."""

from tests.caches import empty_caches as empty_caches
from tests.caches import timeline_dir as timeline_dir
