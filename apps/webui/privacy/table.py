"""The pages of *Privacy*."""

from apps.webui.pages import Page
from apps.webui.privacy.download import download_ask, download_file, download_state, download_throw_away
from apps.webui.privacy.forget import forget_page, take_back
from apps.webui.privacy.looked import looked_page
from apps.webui.privacy.page import privacy_page
from apps.webui.privacy.receipt import forgotten_page

PAGES: tuple[Page, ...] = (
    Page(name="privacy", path="privacy/", view=privacy_page),
    Page(name="privacy_download", path="privacy/download/", view=download_ask),
    Page(name="privacy_download_state", path="privacy/download/state/", view=download_state, part_of="privacy"),
    Page(name="privacy_download_remove", path="privacy/download/remove/", view=download_throw_away),
    Page(name="privacy_file", path="privacy/download/<uuid:uuid>/", view=download_file, is_own=True),
    Page(name="privacy_looked", path="privacy/looked/", view=looked_page),
    Page(name="privacy_forget", path="privacy/forget/", view=forget_page),
    Page(name="privacy_take_back", path="privacy/forget/take-back/", view=take_back),
    Page(name="forgotten", path="forgotten/<uuid:uuid>/", view=forgotten_page, is_public=True),
)
