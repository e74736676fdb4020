"use strict";

/* The page about the API. What differs between hubs is in attributes, so that no script is written into the page. */

async function copyStep(button) {
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
  setTimeout(() => { label.textContent = "Copy"; }, 3000);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copyStep(button);
});

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("swagger-ui");
  SwaggerUIBundle({
    url: place.dataset.schema,
    domNode: place,
    presets: [SwaggerUIBundle.presets.apis],
    layout: "BaseLayout",
    ...JSON.parse(place.dataset.settings),
    onComplete: () => place.removeAttribute("aria-busy"),
  });
});
