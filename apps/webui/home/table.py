"""The page *Home*."""

from apps.webui.home.alarms import alarms
from apps.webui.home.begin import tell
from apps.webui.home.learned import home_learned, learned_take_back
from apps.webui.home.page import home_latest, home_page
from apps.webui.home.pause import go_on, pause
from apps.webui.pages import Page

PAGES: tuple[Page, ...] = (
    Page(name="home", path="", view=home_page),
    Page(name="home_latest", path="home/latest/", view=home_latest, part_of="home"),
    Page(name="alarms", path="home/alarms/", view=alarms, part_of=""),
    Page(name="home_learned", path="home/learned/", view=home_learned, part_of="home"),
    Page(name="learned_undo", path="home/learned/<uuid:uuid>/undo/", view=learned_take_back),
    Page(name="tell", path="home/tell/", view=tell),
    Page(name="pause", path="pause/", view=pause),
    Page(name="go_on", path="pause/end/", view=go_on),
)
