"use strict";

/* Says beside a setting that it was not saved, when the hub cannot be reached or refuses: htmx itself says nothing. */
(() => {
  const fail = (event) => {
    const form = event.target.closest("[data-part]");
    if (!form) return;
    const said = form.querySelector(".saved");
    said.textContent = form.dataset.failed;
    said.classList.add("problem");
  };
  document.body.addEventListener("htmx:sendError", fail);
  document.body.addEventListener("htmx:responseError", fail);
})();
