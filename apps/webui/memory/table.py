"""The pages of one memory."""

from apps.webui.memory.audience import memory_keep_for
from apps.webui.memory.mend import decision_take_back, memory_both_true, memory_this_true
from apps.webui.memory.page import memory_correct, memory_forget, memory_page, memory_restored, memory_still_true
from apps.webui.pages import Page

PAGES: tuple[Page, ...] = (
    Page(name="memory", path="memories/<uuid:uuid>/", view=memory_page),
    Page(name="memory_correct", path="memories/<uuid:uuid>/correct/", view=memory_correct),
    Page(name="memory_forget", path="memories/<uuid:uuid>/forget/", view=memory_forget),
    Page(name="memory_restore", path="memories/<uuid:uuid>/restore/", view=memory_restored),
    Page(name="memory_keep_for", path="memories/<uuid:uuid>/keep-for/", view=memory_keep_for),
    Page(name="memory_both_true", path="memories/<uuid:uuid>/both-true/", view=memory_both_true),
    Page(name="memory_this_true", path="memories/<uuid:uuid>/this-true/", view=memory_this_true),
    Page(name="decision_undo", path="decisions/<uuid:uuid>/undo/", view=decision_take_back),
    Page(name="memory_still_true", path="memories/<uuid:uuid>/still-true/", view=memory_still_true),
)
