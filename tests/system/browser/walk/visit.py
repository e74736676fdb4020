"""Visiting pages in a browser: what it complains of, what is wider than the window, and what axe finds."""

import os
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Response

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()
LEVELS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa")
HEIGHTS = {1440: 900, 390: 844, 320: 640}
WIDTHS = tuple(HEIGHTS)
THEMES = ("light", "dark")
PICTURES = os.environ.get("WALK_PICTURES", "")
WATCH = """
window.refusedParts = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.refusedParts.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
"""
# The admin keeps the theme that was chosen; pages of people follow the browser alone.
CHOOSE = """(theme) => {
  const root = document.documentElement;
  if (window.Alpine && root.hasAttribute("x-data")) Alpine.$data(root).switchTheme(theme);
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""
# Its parts have come. Colours take a moment to change; nothing is measured between.
SETTLE = f"""async (theme) => {{
  const began = performance.now();
  while (document.querySelector(".htmx-request, [aria-busy=true]")) {{
    if (performance.now() - began > 30_000) throw new Error("a part of the page has not come");
    await new Promise((done) => setTimeout(done, 20));
  }}
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("*, ::before, ::after {{ transition: none !important; animation: none !important; }}");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  await ({CHOOSE})(theme);
}}"""
# The last thing that sticks out says what to mend.
TOO_WIDE = """() => {
  const root = document.documentElement, most = root.clientWidth;
  if (root.scrollWidth <= most) return "";
  const wide = [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > most + 1);
  return `${root.scrollWidth} of ${most} px: ${wide.at(-1)?.outerHTML.slice(0, 160)}`;
}"""
# What has begun to change ends at once.
RUN_AXE = """async (runOnly) => {
  document.getAnimations().forEach((one) => {
    try { one.finish(); } catch { one.cancel(); }
  });
  const found = await axe.run(document, { runOnly, preload: false });
  return found.violations.flatMap((one) => one.nodes.map((node) =>
    `${one.id}: ${node.target.join(" ")} | ${node.html.slice(0, 200)} | ${node.failureSummary.split("\\n")[1] ?? ""}`));
}"""


@dataclass
class Tab:
    """A tab of a browser in which a viewer is signed in, and what the browser said of the page that is open."""

    page: Page
    said: list[str] = field(default_factory=list)
    # Of the pages: `en` or `zh`.
    language: str = "en"
    theme: str = ""
    width: int = 0

    def __post_init__(self) -> None:
        self.page.on("console", lambda line: self.said.append(line.text) if line.type == "error" else None)
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.add_init_script(WATCH)

    def open(self, url: str, theme: str, width: int) -> Response:
        """Open an address in a theme and width, and wait until its parts have come and nothing moves."""
        self.said.clear()
        self.fit(theme, width)
        answer = self.page.goto(url, wait_until="load")
        assert answer is not None
        if answer.status >= 400:  # The browser says so in the console too.
            self.said[:] = [line for line in self.said if "Failed to load resource" not in line]
        self.page.evaluate(SETTLE, theme)
        return answer

    def show(self, theme: str, width: int) -> None:
        """Change the theme and the width of the page that is open."""
        self.fit(theme, width)
        self.page.evaluate(CHOOSE, theme)

    def fit(self, theme: Any, width: int) -> None:
        """Have the window in a theme and width, in which it may be already."""
        if width != self.width:
            self.page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
        if theme != self.theme:
            self.page.emulate_media(color_scheme=theme)
        self.theme, self.width = theme, width

    def axe(self, *rules: str) -> list[str]:
        """Return what axe finds: by some rules, or by all of the levels A and AA."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE)
        only = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": LEVELS}
        found: list[str] = self.page.evaluate(RUN_AXE, only)
        return found

    def complaints(self) -> list[str]:
        """Return what the policy of contents refused on the page, and errors of the console."""
        return [*self.page.evaluate("() => window.refusedParts"), *self.said]

    def language_found(self) -> list[str]:
        """Return the language of the page, where it is another one than that of its reader."""
        found = str(self.page.evaluate("() => document.documentElement.lang"))
        return [] if found.startswith(self.language) else [f"the page is in {found}"]

    def width_found(self) -> list[str]:
        """Return what makes the page scroll sideways."""
        return [found] if (found := str(self.page.evaluate(TOO_WIDE))) else []

    def shoot(self, name: str) -> None:
        """Keep a picture of the whole page, where WALK_PICTURES names a folder."""
        if PICTURES:
            path = Path(PICTURES) / f"{name.replace(':', '-')}.{self.language}.png"
            self.page.screenshot(path=path, full_page=True)
