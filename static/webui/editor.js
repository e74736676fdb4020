"use strict";

/* The editor of a note: Ctrl+S saves, what is not saved is asked about before the page is left, and the size is counted.
   Without this script the form works as it is, with a button for the preview. */
(() => {
  const form = document.querySelector("[data-editor]");
  if (!form) return;

  const field = form.querySelector("textarea");
  const size = form.querySelector("[data-size]");
  const opened = field.value;
  let isSaving = false;

  const units = ["byte", "kilobyte", "megabyte"];
  const sizeWords = (bytes) => {
    const step = bytes < 1024 ? 0 : bytes < 1024 * 1024 ? 1 : 2;
    const options = { style: "unit", unit: units[step], unitDisplay: step ? "short" : "long", maximumFractionDigits: step ? 1 : 0 };
    return new Intl.NumberFormat(document.documentElement.lang, options).format(bytes / 1024 ** step);
  };
  const count = () => {
    const bytes = new TextEncoder().encode(field.value).length;
    size.textContent = sizeWords(bytes);
    size.classList.toggle("problem", bytes > Number(field.dataset.limit));
  };

  for (const button of form.querySelectorAll("[data-without-script]")) button.hidden = true;
  if (size) field.addEventListener("input", count);
  form.addEventListener("submit", () => {
    isSaving = true;
  });
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "s") return;
    event.preventDefault();
    form.requestSubmit(form.querySelector("[data-save]"));
  });
  /* A conflict is not saved until one of the texts is chosen, whether or not it was typed in. */
  window.addEventListener("beforeunload", (event) => {
    if (!isSaving && field.value !== opened) event.preventDefault();
  });
})();
