"""Pages of the admin about notes; importing this package registers them."""

from apps.notes.admin import compactions as compactions
from apps.notes.admin import runs as runs
from apps.notes.admin import versions as versions
