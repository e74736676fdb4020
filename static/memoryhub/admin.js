"use strict";

/* Copying, and not leaving a page that was made by a form where a reload would send the form again. */

function replaceAddress() {
  const page = document.querySelector("[data-replace-address]");
  if (page) history.replaceState(null, "", page.dataset.replaceAddress);
}

async function copy(button) {
  const field = document.getElementById(button.dataset.copy);
  const label = button.querySelector("[data-copy-label]");
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    label.textContent = "Copied";
  } catch {
    /* Pages that came over plain HTTP from another machine may not use the clipboard. */
    label.textContent = document.execCommand("copy") ? "Copied" : "Press Ctrl+C";
  }
}

document.addEventListener("DOMContentLoaded", () => {
  replaceAddress();
  const button = document.querySelector("[data-copy]");
  if (button) button.focus();
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
});
