"""A person who uses pages by keyboard alone."""

from typing import Any

from playwright.sync_api import Page

MOST_TABS = 250
NAME = """() => {
  const now = document.activeElement;
  if (!now || now === document.body) return [];
  const labels = [...(now.labels ?? [])].map((label) => label.textContent);
  const text = now.cloneNode(true);
  text.querySelectorAll(".material-symbols-outlined").forEach((icon) => icon.remove());
  const names = [now.getAttribute("aria-label") ?? "", ...labels, text.textContent, now.id];
  return names.map((name) => name.replace(/\\s+/g, " ").trim());
}"""
# A property outlasts what live parts do to attributes.
# Everything that can be pressed or filled in where it is seen; of radio buttons with one name one is reached.
MARK = """() => {
  const all = document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, " +
    "[tabindex], [role=button], [contenteditable=true]");
  const isSeen = (one) => one.checkVisibility({checkVisibilityCSS: true}) && one.getClientRects().length > 0 &&
    !one.disabled && one.tabIndex >= 0 && !one.closest("[inert]") && !(one.type === "radio" && !one.checked);
  const marked = [...all].filter(isSeen);
  marked.forEach((one, number) => { one.walkNumber = number; });
  return marked.map((one) => one.outerHTML.replace(/\\s+/g, " ").slice(0, 140));
}"""
# What shows that something has the focus: an outline or a shadow of itself, of what is around it, or of its label.
FOCUS = """() => {
  const now = document.activeElement;
  if (!now || now === document.body) return null;
  const shows = (one) => {
    const style = one && getComputedStyle(one);
    if (!style) return false;
    return (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none";
  };
  const around = [now.parentElement, now.parentElement?.parentElement];
  const near = [now, ...around, now.nextElementSibling, ...(now.labels ?? [])];
  return {number: now.walkNumber ?? -1, isShown: near.some(shows), html: now.outerHTML.slice(0, 140)};
}"""


class Keyboard:
    """Presses of keys on a page, and what has the focus."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def names(self) -> list[str]:
        """Return what the thing that has the focus is called: its label, its text, its id."""
        found: list[str] = self.page.evaluate(NAME)
        return found

    def reach(self, name: str) -> None:
        """Press Tab until something has the focus whose name begins so. Raises AssertionError after a round."""
        for _ in range(MOST_TABS):
            if any(one == name or one.startswith(f"{name} ") for one in self.names()):
                return
            self.press("Tab")
        raise AssertionError(f"{name} cannot be reached by keyboard.")

    def choose(self, name: str, key: str = "Enter") -> None:
        """Reach something, and press it."""
        self.reach(name)
        self.press(key)

    def round(self) -> list[str]:
        """Press Tab from the top of the page to its end; return what was not reached, and what does not show it."""
        wanted: list[str] = self.page.evaluate(MARK)
        reached, hidden = set(), []
        for _ in range(len(wanted) + 20):
            self.press("Tab")
            now: dict[str, Any] | None = self.page.evaluate(FOCUS)
            if now is None or (now["number"] in reached and now["number"] >= 0):
                break
            if not now["isShown"]:
                hidden.append(f"does not show the focus: {now['html']}")
            reached.add(now["number"])
        missed = [html for number, html in enumerate(wanted) if number not in reached]
        return [*(f"cannot be reached: {html}" for html in missed), *hidden]
