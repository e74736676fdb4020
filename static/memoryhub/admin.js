"use strict";

/* Copying; leaving no page that was made by a form where a reload would send the form again; reaching by keyboard
   what the theme made of elements that only a mouse can press. */

/* Words of the page, in the language of its reader: unfold/helpers/words.html. */
const pageWord = (name) => document.getElementById("page-words").dataset[name];

const ONLY_FOR_MICE = ":is(a, span, div, h2)[x-on\\:click]:is(.cursor-pointer, .material-symbols-outlined):not([href])";

function reachByKeyboard() {
  for (const element of document.querySelectorAll(ONLY_FOR_MICE)) {
    element.tabIndex = 0;
    element.setAttribute("role", "button");
  }
}

/* The menus of widgets, whose template is the theme's. */
function nameMenus() {
  for (const menu of document.querySelectorAll("nav[id^=related-widget-wrapper]")) menu.setAttribute("aria-label", pageWord("others"));
}

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
    label.textContent = pageWord("copied");
  } catch {
    /* Pages that came over plain HTTP from another machine may not use the clipboard. */
    label.textContent = pageWord(document.execCommand("copy") ? "copied" : "press");
  }
}

document.addEventListener("DOMContentLoaded", () => {
  replaceAddress();
  reachByKeyboard();
  nameMenus();
  const button = document.querySelector("[data-copy]");
  if (button) button.focus();
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
});

document.addEventListener("keydown", (event) => {
  if ((event.key === "Enter" || event.key === " ") && event.target.matches(ONLY_FOR_MICE)) {
    event.preventDefault();
    event.target.click();
  }
});

/* Django's lists of two sides make their signs once the page has loaded. */
window.addEventListener("load", () => {
  setTimeout(() => {
    for (const sign of document.querySelectorAll(".help-tooltip[aria-label]")) sign.setAttribute("role", "img");
  });
});
