"use strict";

/* The editor of a rule. Every field is in the page without this script; with it, those that differ from the parent are
   open, others are found by a word, edits are marked, and what they would do is asked for after each of them.
   Every edit has a number: an answer to an older one never takes the place of a newer one. */

const PREVIEW_MS = 200;
const REHEARSE_MS = 600;
const BUSY_MS = 700;
const MAX_OPTIONS = 60;

const editor = document.getElementById("rule-editor");
const byId = (id) => document.getElementById(id);

function controlOf(row) {
  return row.querySelector("select, textarea, input:not([type=checkbox])");
}

function anyOf(row) {
  return row.querySelector(".rule-any input");
}

function isOwn(row) {
  const any = anyOf(row);
  return controlOf(row).value !== "" || (any !== null && any.checked);
}

function isChanged(row) {
  const any = anyOf(row);
  return controlOf(row).value !== row.dataset.saved || (any !== null && any.checked !== (row.dataset.any === "yes"));
}

function settings() {
  return [...editor.querySelectorAll("[data-setting]")];
}

/* Where a setting is shown */

function others() {
  return [...byId("rule-rest").querySelectorAll("[data-setting]")];
}

/* The page has the sentences, in the language of the reader. */
function said(name, values = {}) {
  return byId("rule-editor").dataset[`words${name}`].replace(/\{(\w+)\}/g, (_, value) => values[value]);
}

function showCounts() {
  byId("rule-rest-count").textContent = String(others().length);
  byId("rule-none").hidden = byId("rule-own").children.length > 0;
}

function open(row) {
  byId("rule-own").append(row);
  row.querySelector("[data-inherit]")?.toggleAttribute("hidden", false);
  showCounts();
  controlOf(row).focus();
  const value = row.querySelector("[data-parent-value]").textContent;
  say(said("Added", { setting: labelOf(row), value }));
}

function inherit(row) {
  controlOf(row).value = "";
  const any = anyOf(row);
  if (any) any.checked = false;
  let place = byId("rule-rest").querySelector(`[data-rest="${row.dataset.section}"]`);
  if (!place) {
    place = document.createElement("div");
    place.className = "rule-settings";
    place.dataset.rest = row.dataset.section;
    const title = document.createElement("h3");
    title.className = "rule-heading";
    title.textContent = row.dataset.section;
    place.append(title);
    byId("rule-rest").append(place);
  }
  place.append(row);
  showCounts();
  byId("rule-add-words").focus();
  say(said("Inherited", { setting: labelOf(row) }));
  edited();
}

function labelOf(row) {
  return row.querySelector("label").textContent.trim();
}

function say(text) {
  byId("rule-add-say").textContent = text;
}

/* Marks of what has changed, and the values of the parent */

function mark() {
  for (const row of settings()) {
    const changed = isChanged(row);
    row.classList.toggle("rule-is-changed", changed);
    row.querySelector("[data-changed]").hidden = !changed;
  }
}

function showParents() {
  const data = byId("rule-parents");
  if (!data) return;
  const { name, values, any: anyWord } = JSON.parse(data.textContent);
  for (const place of document.querySelectorAll("[data-parent-name]")) place.textContent = name;
  for (const row of settings()) {
    const words = values[row.dataset.setting];
    const shown = row.querySelector("[data-parent-value]");
    const control = controlOf(row);
    const asIn = said("AsIn", { parent: name, value: words });
    const any = anyOf(row);
    if (shown) shown.textContent = words;
    if (any) any.closest("label").hidden = words === anyWord && !any.checked && row.dataset.any !== "yes";
    if (control.tagName !== "SELECT") control.placeholder = asIn;
    else if (control.options.length && control.options[0].value === "") control.options[0].textContent = asIn;
  }
}

/* What the edits would do */

let number = 0;
let previewTimer = 0;
let rehearseTimer = 0;

function edited() {
  number += 1;
  byId("rule-edit").value = String(number);
  byId("rule-mark").value = "";
  mark();
  clearTimeout(previewTimer);
  clearTimeout(rehearseTimer);
  previewTimer = setTimeout(() => htmx.trigger(byId("rule-preview"), "preview"), PREVIEW_MS);
  if (byId("rule-rehearsal")) {
    showState("waiting", said("Waiting"));
    rehearseTimer = setTimeout(rehearse, REHEARSE_MS);
  }
}

function rehearse() {
  const panel = byId("rule-rehearsal");
  panel.setAttribute("aria-busy", "true");
  htmx.trigger(panel, "rehearse");
}

function showState(state, words) {
  byId("rule-rehearsed").textContent = words;
  byId("rule-rehearsed").dataset.state = state;
  const save = document.querySelector("button[name=_save]");
  if (save) save.textContent = state === "waiting" || state === "failed" ? said("Unrehearsed") : said("Save");
}

function isStale(event) {
  const sent = event.detail.requestConfig.parameters;
  const value = typeof sent.get === "function" ? sent.get("edit") : sent.edit;
  return String(value) !== String(number);
}

function answered() {
  const panel = byId("rule-rehearsal");
  const answer = byId("rule-rehearsal-result");
  const { state, mark: made, words } = answer.dataset;
  if (state === "busy") {
    rehearseTimer = setTimeout(rehearse, BUSY_MS);
    return;
  }
  panel.removeAttribute("aria-busy");
  byId("rule-mark").value = made || "";
  showState(state, words || "");
}

function failed(event) {
  if (event.target.id !== "rule-rehearsal") return;
  event.target.removeAttribute("aria-busy");
  showState("failed", said("Failed"));
}

/* Add a setting: a box that lists settings by the words of their names and explanations */

let options = [];
let active = -1;

function find(words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const found = others().filter((row) => wanted.every((word) => row.dataset.search.includes(word)));
  const inName = (row) => wanted.length > 0 && wanted.every((word) => labelOf(row).toLowerCase().includes(word));
  return [...found.filter(inName), ...found.filter((row) => !inName(row))].slice(0, MAX_OPTIONS);
}

function optionOf(row, index) {
  const option = document.createElement("li");
  option.id = `rule-option-${index}`;
  option.setAttribute("role", "option");
  option.setAttribute("aria-selected", "false");
  const name = document.createElement("strong");
  name.textContent = labelOf(row);
  const where = document.createElement("span");
  where.className = "mh-note";
  const value = row.querySelector("[data-parent-value]").textContent;
  where.textContent = ` ${said("Where", { section: row.dataset.section, value })}`;
  const help = document.createElement("span");
  help.className = "mh-note rule-option-help";
  help.textContent = row.querySelector(".rule-help")?.textContent ?? "";
  option.append(name, where, help);
  option.addEventListener("mousedown", (event) => event.preventDefault());
  option.addEventListener("click", () => choose(index));
  return option;
}

function list() {
  const box = byId("rule-add-words");
  const place = byId("rule-add-list");
  options = find(box.value);
  place.replaceChildren(...options.map(optionOf));
  place.hidden = options.length === 0;
  box.setAttribute("aria-expanded", String(options.length > 0));
  say(options.length ? said("Found", { count: options.length }) : said("NotFound"));
  activate(options.length && box.value.trim() ? 0 : -1);
}

function activate(index) {
  active = index;
  const box = byId("rule-add-words");
  [...byId("rule-add-list").children].forEach((option, at) => option.setAttribute("aria-selected", String(at === index)));
  if (index < 0) {
    box.removeAttribute("aria-activedescendant");
    return;
  }
  box.setAttribute("aria-activedescendant", `rule-option-${index}`);
  byId(`rule-option-${index}`).scrollIntoView({ block: "nearest" });
}

function close() {
  byId("rule-add-list").hidden = true;
  byId("rule-add-words").setAttribute("aria-expanded", "false");
  activate(-1);
}

function choose(index) {
  const row = options[index];
  if (!row) return;
  byId("rule-add-words").value = "";
  close();
  open(row);
}

function press(event) {
  const isOpen = !byId("rule-add-list").hidden;
  if (event.key === "Enter") {
    event.preventDefault(); /* It would save the rule. */
    if (isOpen) choose(active);
  } else if (event.key === "Escape" && isOpen) {
    event.preventDefault();
    event.stopPropagation();
    close();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    if (!isOpen) list();
    const step = event.key === "ArrowDown" ? 1 : -1;
    if (options.length) activate((active + step + options.length) % options.length);
  }
}

function start() {
  const form = byId(editor.dataset.form);
  byId("rule-add").hidden = false;
  /* Enter in a field saves, as it does on every page: the first button that sends the form must be that of saving. */
  byId("rule-try-button").type = "button";
  for (const row of settings()) {
    const button = row.querySelector("[data-inherit]");
    if (!button) continue;
    button.hidden = false;
    button.addEventListener("click", () => inherit(row));
  }
  const isEdit = (target) => target.name && !target.closest("#rule-try") && !target.closest("#rule-add");
  form.addEventListener("input", (event) => isEdit(event.target) && edited());
  const words = byId("rule-add-words");
  words.addEventListener("input", list);
  words.addEventListener("focus", list);
  words.addEventListener("blur", close);
  words.addEventListener("keydown", press);
  editor.addEventListener("htmx:beforeSwap", (event) => {
    const asks = event.target.closest("#rule-preview, #rule-rehearsal");
    if (asks && isStale(event)) event.detail.shouldSwap = false;
  });
  editor.addEventListener("htmx:afterSettle", (event) => {
    if (event.target.closest("#rule-preview")) showParents();
    if (event.target.closest("#rule-rehearsal")) answered();
  });
  for (const name of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) editor.addEventListener(name, failed);
  showCounts();
  if (byId("rule-preview-result").dataset.changes !== "0") edited();
}

if (editor) start();
