"""The page *Privacy*."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from apps.people.selectors import erasure_list
from apps.webui.pages import render_page
from apps.webui.person import Person
from apps.webui.privacy.download import shown_download
from apps.webui.privacy.kept import kept_of
from apps.webui.privacy.looked import lines_of

SHOWN_LOOKS, SHOWN_RECEIPTS = 5, 10


def privacy_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show what can be downloaded and forgotten, how long things are kept, and who looked lately."""
    looked, more = lines_of(person, SHOWN_LOOKS)
    receipts = erasure_list(person.user_id).filter(state="finished")[:SHOWN_RECEIPTS]
    return render_page(
        request,
        person,
        "webui/privacy/page.html",
        _("Privacy"),
        **shown_download(person),
        kept=kept_of(person),
        looked=looked,
        more_looked=bool(more),
        receipts=receipts,
    )
