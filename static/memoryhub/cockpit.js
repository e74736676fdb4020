"use strict";

/* What was unfolded stays so when a live part of the page is fetched again. */

(() => {
  const unfolded = new Set();

  document.addEventListener("htmx:beforeSwap", (event) => {
    for (const details of event.detail.target.querySelectorAll("details[id]")) {
      if (details.open) unfolded.add(details.id);
      else unfolded.delete(details.id);
    }
  });

  document.addEventListener("htmx:afterSwap", () => {
    for (const id of unfolded) {
      const details = document.getElementById(id);
      if (details) details.open = true;
    }
  });
})();
