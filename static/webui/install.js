"use strict";

/* The page that an installed app shows without a network: browsers offer to install what has one. */

if ("serviceWorker" in navigator) {
  window.addEventListener("load", () => {
    navigator.serviceWorker.register("/service-worker.js").catch(() => {
      /* Not by http on another host than this machine, and not in a private window: the pages work without it. */
    });
  });
}
