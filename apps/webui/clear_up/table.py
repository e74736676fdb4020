"""The page *To clear up*."""

from apps.webui.clear_up.decided import decided_page
from apps.webui.clear_up.page import clear_up_answer, clear_up_badge, clear_up_page, clear_up_undo
from apps.webui.pages import Page

PAGES: tuple[Page, ...] = (
    Page(name="clear_up", path="clear-up/", view=clear_up_page),
    Page(name="decided", path="clear-up/decided/", view=decided_page),
    Page(name="clear_up_badge", path="clear-up/badge/", view=clear_up_badge, part_of=""),
    Page(name="clear_up_undo", path="clear-up/undo/", view=clear_up_undo),
    Page(name="clear_up_answer", path="clear-up/<uuid:uuid>/", view=clear_up_answer),
)
