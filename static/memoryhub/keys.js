"use strict";

/* The form of a new key: says below each field of its bound what there is of the id that is entered. */

function sayWhatThereIs(field) {
  const list = field.dataset.scopeField;
  const hint = document.querySelector(`[data-scope-hint="${list}"]`);
  if (!hint) return;
  const id = field.value.trim();
  const known = Array.from(document.getElementById(list).options).find((option) => option.value === id);
  if (!id) hint.textContent = "";
  else if (known) hint.textContent = known.textContent ? `${id}: ${known.textContent}` : hint.dataset.empty.replace("{id}", id);
  else hint.textContent = hint.dataset.unknown;
}

document.addEventListener("input", (event) => {
  if (event.target.matches("[data-scope-field]")) sayWhatThereIs(event.target);
});

document.addEventListener("DOMContentLoaded", () => {
  for (const field of document.querySelectorAll("[data-scope-field]")) sayWhatThereIs(field);
});
