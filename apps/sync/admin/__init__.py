"""Pages of the admin about knowledge sync; importing this package registers them."""

from apps.sync.admin import conflicts as conflicts
from apps.sync.admin import items as items
from apps.sync.admin import runs as runs
from apps.sync.admin import sources as sources
