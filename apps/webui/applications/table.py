"""The pages *Apps*."""

from apps.webui.applications.connect import connect_answer, connect_page
from apps.webui.applications.forget import forget_page, forgetting_page, forgetting_state, forgetting_undo
from apps.webui.applications.page import app_let_in, app_page, app_stop, apps_page
from apps.webui.pages import Page

PAGES: tuple[Page, ...] = (
    Page(name="apps", path="apps/", view=apps_page),
    Page(name="connect", path="apps/connect/", view=connect_page),
    Page(name="connect_answer", path="apps/connect/answer/", view=connect_answer),
    Page(name="app", path="apps/<uuid:uuid>/", view=app_page),
    Page(name="app_stop", path="apps/<uuid:uuid>/stop/", view=app_stop),
    Page(name="app_let_in", path="apps/<uuid:uuid>/let-in/", view=app_let_in),
    Page(name="app_forget", path="apps/<uuid:uuid>/forget/", view=forget_page),
    Page(name="forgetting", path="apps/forgotten/<uuid:uuid>/", view=forgetting_page),
    Page(name="forgetting_state", path="apps/forgotten/<uuid:uuid>/state/", view=forgetting_state),
    Page(name="forgetting_undo", path="apps/forgotten/<uuid:uuid>/undo/", view=forgetting_undo),
)
