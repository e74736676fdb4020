"""Words of `domain`, which imports no framework: marked here, and translated where a page shows them."""


def gettext_noop(text: str) -> str:
    """Return a text as it is; the name has it found for the catalogs. A page shows `gettext` of it."""
    return text
