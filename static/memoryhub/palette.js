"use strict";

/* The palette: Ctrl+K or a button opens it; a combobox whose list the server makes. Contents are in no address. */

(() => {
  const WAIT = 120;
  let dialog, input, list, status, waiting, request;

  function options() {
    return [...list.querySelectorAll("[role=option]")];
  }

  function select(option) {
    for (const other of options()) other.setAttribute("aria-selected", String(other === option));
    if (option) {
      input.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    } else {
      input.removeAttribute("aria-activedescendant");
    }
  }

  function move(step) {
    const all = options();
    if (!all.length) return;
    const now = all.findIndex((option) => option.getAttribute("aria-selected") === "true");
    select(all[(now + step + all.length) % all.length]);
  }

  function show(html, words) {
    list.innerHTML = html;
    const count = options().length;
    input.setAttribute("aria-expanded", String(count > 0));
    status.textContent = words || document.getElementById("page-words").dataset.found.replace("{count}", count);
    select(options()[0]);
  }

  async function find() {
    if (request) request.abort();
    request = new AbortController();
    const asked = input.value;
    try {
      const form = input.form;
      const answer = await fetch(form.action, { method: "POST", body: new FormData(form), signal: request.signal });
      if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
      const html = await answer.text();
      if (asked === input.value) show(html);
    } catch (error) {
      if (error.name === "AbortError") return;
      show("", "");
      const note = document.createElement("p");
      note.className = "mh-palette-none";
      note.textContent = document.getElementById("page-words").dataset.silent;
      list.append(note);
      status.textContent = note.textContent;
    }
  }

  function open() {
    if (!dialog || dialog.open) return;
    dialog.showModal();
    input.value = "";
    input.focus();
    find();
  }

  function go(option, elsewhere) {
    if (!option) return;
    if (elsewhere) {
      window.open(option.href, "_blank", "noopener");
    } else {
      dialog.close();
      location.assign(option.href);
    }
  }

  function press(event) {
    const chosen = list.querySelector("[aria-selected=true]");
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Enter" && !event.isComposing) go(chosen, event.ctrlKey || event.metaKey);
    else return;
    event.preventDefault();
  }

  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k" && dialog) {
      event.preventDefault();
      if (dialog.open) dialog.close();
      else open();
    }
  });

  document.addEventListener("DOMContentLoaded", () => {
    dialog = document.getElementById("mh-palette");
    if (!dialog) return;
    [input, list, status] = ["input", "list", "status"].map((part) => document.getElementById(`mh-palette-${part}`));
    input.addEventListener("keydown", press);
    input.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(find, WAIT);
    });
    input.form.addEventListener("submit", (event) => event.preventDefault());
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog || event.target.closest("[data-palette-close]")) dialog.close();
    });
    if (/Mac|iPhone|iPad/.test(navigator.platform)) {
      for (const key of document.querySelectorAll(".mh-find kbd")) key.textContent = "⌘ K";
    }
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-palette]")) open();
  });
})();
