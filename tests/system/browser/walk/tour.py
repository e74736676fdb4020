"""The walk of one viewer over all pages: which are opened, in which themes and widths, and what is wrong with them."""

from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

from playwright.sync_api import APIResponse

from tests.system.browser.walk.routes import Page
from tests.system.browser.walk.visit import THEMES, WIDTHS, Tab

# Each begins in the theme in which the one before it ends, and in the width.
VARIANTS = tuple((THEMES[n % len(THEMES)], WIDTHS[n % len(WIDTHS)]) for n in range(len(THEMES) * len(WIDTHS)))
# What shows to others than those who are signed in, or signs them out.
FOR_VISITORS = {"account_reset_password_from_key", "account_invitation_link"}
# These lead on to another page, also for an owner.
LEADS_ON = {
    "account_overview", "account_login", "account_set_password", "admin:login", "mfa_authenticate", "mfa_activate_totp",
    "mfa_login_webauthn", "rehearse_rule", "rehearse_new_rule", "rehearse_edits", "admin:rules_mergerule_preview_new",
    "admin:rules_mergerule_preview",
}  # fmt: skip
# An owner has all permissions; what is refused is refused to everyone, since only services write there.
REFUSED_TO_ALL = ("_add", "_delete")
# Pages of all models of the admin that one template makes: a browser opens one in so many, all in a whole walk.
ALIKE = {"_history": 6, "_delete": 6}
REFUSED_BY_GET = {"admin:semantic_memory_undo", "admin:semantic_memory_undo_deletion"}


@dataclass
class Tour:
    """What one viewer saw. whole: each page is loaded in each theme and width; otherwise once, and then changed."""

    viewer: str
    base: str
    tab: Tab
    whole: bool
    is_owner: bool = False
    seen_pages: int = 0
    opened: int = 0
    found: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    # Addresses to which the viewer was sent on, but for where they lead back to.
    sent: set[str] = field(default_factory=set)
    # Paths that were answered, with a page or a part of one.
    answered: set[str] = field(default_factory=set)
    # Pages that axe has seen already, with another viewer. A whole walk asks it about all of them again.
    examined: set[str] = field(default_factory=set)
    alike: Counter[str] = field(default_factory=Counter)

    def take(self, pages: list[Page]) -> None:
        """Visit each page that the viewer may see, and each way of being refused once."""
        for page in pages:
            if page.name in FOR_VISITORS and self.viewer != "visitor":
                continue
            answer = self.ask(page)
            if answer is None:
                continue
            self.note(page, self.faults_of_status(page, answer))
            if answer.ok:
                self.answered.add(page.path)
            if not self.is_new_page(answer):
                continue
            self.seen_pages += 1
            if self.is_left_out(page):
                continue
            first = self.opened % len(VARIANTS)
            variants = VARIANTS[first:] + VARIANTS[:first]
            self.opened += 1
            self.open(page, *variants[0])
            if self.whole:
                self.look_at_all(page, variants)
            else:
                self.look_once(page, variants)

    def ask(self, page: Page) -> APIResponse | None:
        """Return the answer of a page, None where it sends on to where an earlier one has sent the viewer.

        Asked first: a browser shows fragments, and answers without a body, as pages of its own.
        """
        client, address = self.tab.page.request, self.base + page.path
        answer = client.get(address, max_redirects=0)
        if not 300 <= answer.status < 400:
            return answer
        location = answer.headers["location"]
        place = location.partition("next=")[0]
        if place in self.sent and not self.is_owner:
            return None
        self.sent.add(place)
        return client.get(urljoin(address, location))

    def open(self, page: Page, theme: str, width: int) -> None:
        """Open a page in a theme and width."""
        self.tab.open(self.base + page.path, theme, width)

    def faults_of_status(self, page: Page, answer: APIResponse) -> list[str]:
        """Return what is wrong with an answer: an owner sees every page, others what is not refused to them."""
        if not self.is_owner:
            return [] if answer.status in {200, 403, 404, 405} else [f"status {answer.status}"]
        is_refused = page.name.endswith(REFUSED_TO_ALL) or page.name in REFUSED_BY_GET
        if is_refused and answer.status == 403:
            return []
        path = urlsplit(answer.url).path
        is_there = path == urlsplit(page.path).path or page.name in LEADS_ON or page.name.endswith("_history")
        return [] if is_there and answer.status in {200, 405} else [f"status {answer.status} at {path}"]

    def is_new_page(self, answer: APIResponse) -> bool:
        """Return whether an answer is a whole page, and neither its address nor this way of being refused was seen."""
        is_page = "text/html" in answer.headers.get("content-type", "") and answer.status != 405
        if not is_page or not answer.text().lstrip().lower().startswith("<!doctype"):
            return False
        mark = urlsplit(answer.url).path if answer.ok else str(answer.status)
        is_new = mark not in self.seen
        self.seen.add(mark)
        return is_new

    def is_left_out(self, page: Page) -> bool:
        """Return whether enough pages were opened that are made as this one is."""
        kind = next((kind for kind in ALIKE if page.name.startswith("admin:") and page.name.endswith(kind)), None)
        if kind is None or self.whole:
            return False
        self.alike[kind] += 1
        return self.alike[kind] % ALIKE[kind] != 1

    def look_at_all(self, page: Page, variants: tuple[tuple[str, int], ...]) -> None:
        """Load a page that is open in each other theme and width, too."""
        for number, (theme, width) in enumerate(variants):
            if number:
                self.open(page, theme, width)
            self.look(page, theme, width, self.tab.axe())

    def look_once(self, page: Page, variants: tuple[tuple[str, int], ...]) -> None:
        """Look at a page that is open as it is, at its colours in the other theme, and at it in the other widths."""
        is_new = page.name not in self.examined
        self.examined.add(page.name)
        (theme, width), (other, next_width), (_, last_width) = variants[:3]
        self.look(page, theme, width, self.tab.axe() if is_new else [])
        self.tab.show(other, width)
        # Other words have the colours of the English ones.
        has_new_colours = is_new and self.tab.language == "en"
        self.look(page, other, width, self.tab.axe("color-contrast") if has_new_colours else [])
        for each in (last_width, next_width):
            self.tab.show(other, each)
            self.note(page, [f"{other} {each}: {fault}" for fault in self.tab.width_found()])
        self.note(page, self.tab.complaints())

    def look(self, page: Page, theme: str, width: int, findings: list[str]) -> None:
        """Note what is wrong with the page that is open."""
        # The documentation of the API is in English, as the API is.
        spoken = self.tab.language_found() if page.name != "docs" else []
        faults = [*findings, *self.tab.width_found(), *self.tab.complaints(), *spoken]
        self.note(page, [f"{theme} {width}: {fault}" for fault in faults])
        self.tab.shoot(f"{self.viewer}.{page.name}{page.variant}.{theme}.{width}")

    def note(self, page: Page, faults: list[str]) -> None:
        self.found += [f"{self.viewer} {page.name} {page.variant} ({page.path}) {fault}" for fault in faults]
