"""Directories that a database server may work in, and folders of each test's own for what it leaves in files."""

from tests.caches import downloads_dir as downloads_dir
from tests.caches import empty_caches as empty_caches
from tests.caches import notes_dir as notes_dir
from tests.caches import timeline_dir as timeline_dir
from tests.caches import uploads_dir as uploads_dir
from tests.places import make_place as make_place
from tests.places import tmp_path as tmp_path
