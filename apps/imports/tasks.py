"""The tasks of imports, which django-q2 runs by these names."""

from apps.imports.uploads import work


def bring() -> None:
    """Go on with the files that people uploaded, and with undoing imports; each minute, and when one is requested."""
    work.imports_continue()
