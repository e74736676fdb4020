"use strict";

/* The dialog of the theme by keyboard: it takes the focus when it opens, keeps it, and gives it back when it closes. */

(() => {
  const REACHED = ":is(a[href], button, input:not([type=hidden]), select, textarea, [tabindex='0']):not([disabled])";
  let dialog, opener;

  const isOpen = () => dialog.offsetParent !== null;

  function reached() {
    return [...dialog.querySelectorAll(REACHED)].filter((one) => one.offsetParent !== null);
  }

  /* The sign that closes it is no button in the theme. */
  function nameParts() {
    const heading = dialog.querySelector("h1, h2, h3");
    if (heading) dialog.setAttribute("aria-label", heading.textContent.trim());
    for (const sign of dialog.querySelectorAll("div[x-on\\:click]")) {
      if (sign.textContent.trim() !== "close") continue;
      sign.tabIndex = 0;
      sign.setAttribute("role", "button");
      sign.setAttribute("aria-label", document.getElementById("page-words").dataset.close);
      sign.dataset.closes = "";
    }
  }

  /* The first field, or else the button that leads back: what is done must be chosen. */
  function enter() {
    nameParts();
    if (dialog.contains(document.activeElement) && document.activeElement !== dialog) return;
    const all = reached().filter((one) => !("closes" in one.dataset));
    (all[0] || dialog).focus();
  }

  function keep(event) {
    if (event.key !== "Tab" || !isOpen()) return;
    const all = reached();
    const first = all[0] || dialog, last = all.at(-1) || dialog, now = document.activeElement;
    const isAtEnd = event.shiftKey ? now === first || now === dialog : now === last;
    if (!isAtEnd && dialog.contains(now)) return;
    event.preventDefault();
    (event.shiftKey ? last : first).focus();
  }

  function leave() {
    if (isOpen() || !opener) return;
    if (opener.isConnected) opener.focus();
    opener = null;
  }

  document.addEventListener("DOMContentLoaded", () => {
    dialog = document.getElementById("modal-content");
    if (!dialog) return;
    document.addEventListener("keydown", keep);
    document.addEventListener("htmx:beforeRequest", (event) => {
      if (event.detail.target === dialog) opener = event.detail.elt;
    });
    document.addEventListener("htmx:afterSettle", (event) => {
      if (dialog.contains(event.target)) enter();
    });
    new MutationObserver(leave).observe(dialog.parentElement, { attributeFilter: ["style"] });
  });
})();
