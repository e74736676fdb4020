"""Directories that a database server may work in."""

from tests.caches import empty_caches as empty_caches
from tests.caches import timeline_dir as timeline_dir
from tests.places import make_place as make_place
from tests.places import tmp_path as tmp_path
