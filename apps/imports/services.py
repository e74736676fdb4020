"""The door of `imports` for writes."""

from apps.imports.running.request import import_begin
from apps.imports.running.run import import_run, look
from apps.imports.running.undo import import_undo
from apps.imports.uploads.request import (
    UPLOAD_SUFFIXES,
    import_confirm,
    import_drop,
    import_undo_request,
    import_upload,
    upload_name,
)

__all__ = [
    "UPLOAD_SUFFIXES",
    "import_begin",
    "import_confirm",
    "import_drop",
    "import_run",
    "import_undo",
    "import_undo_request",
    "import_upload",
    "look",
    "upload_name",
]
