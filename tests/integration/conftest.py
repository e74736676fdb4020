"""Fixtures of all integration tests."""

from tests.caches import downloads_dir as downloads_dir
from tests.caches import empty_caches as empty_caches
from tests.caches import notes_dir as notes_dir
from tests.caches import timeline_dir as timeline_dir
from tests.caches import uploads_dir as uploads_dir
