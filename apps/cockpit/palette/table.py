"""The fragment of the palette, which every account may ask for: it finds what the account may see."""

from apps.cockpit.pages import Page
from apps.cockpit.palette.page import palette_results

PAGES: tuple[Page, ...] = (Page(name="palette", path="palette/", view=palette_results, permissions=()),)
