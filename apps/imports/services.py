"""The door of `imports` for writes."""

from apps.imports.running.request import import_begin
from apps.imports.running.run import import_run, look
from apps.imports.running.undo import import_undo

__all__ = ["import_begin", "import_run", "import_undo", "look"]
