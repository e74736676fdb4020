"use strict";

/* Single keys press the button or the link that names them in `data-key`, unless the person is writing. */
document.addEventListener("keydown", (event) => {
  const isWriting = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.ctrlKey || event.metaKey || event.altKey || isWriting) return;
  const wanted = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === event.key);
  if (wanted) {
    event.preventDefault();
    wanted.click();
  }
});
