"use strict";

/* The queue of decisions: keys and buttons take the same steps, a step applies at once, the next decision is loaded
   already, and everything can be undone. Without this script the buttons are forms that answer with the page. */

const queue = document.getElementById("queue");
const AHEAD = 3;
const KEPT_PAGES = 24;
const MAX_CHOSEN = 100;
const MAX_UNDO = 200;
const REFILL_BELOW = 15;
const PRESENCE_MS = 8000;
const STEPS = { a: "accept", 1: "candidate", 2: "existing", 3: "both", r: "revert" };
const UNDO_KEY = `memoryhub-undo-${queue.dataset.account}`;
const KEYS_KEY = "memoryhub-single-keys";

const pages = new Map(); /* key of a decision -> promise of its fragment */
const gone = new Set(); /* decided here, whatever a list says that was read before */
const chosen = new Set();
let current = null;
let anchor = null;
let lookers = {};
let sending = Promise.resolve();
let shown = 0;
let pending = 0;

/* A text of the page in the language of its reader, with its values: cockpit/decisions/words.html. */
function word(name, values = {}) {
  return byId("queue-texts").dataset[name].replace(/\{(\w+)\}/g, (whole, key) => (key in values ? values[key] : whole));
}

const byId = (id) => document.getElementById(id);
const list = () => byId("queue-list");
const rows = () => [...list().querySelectorAll("[data-key]")];
const keyOf = (row) => row.dataset.key;
const rowOf = (key) => byId(`queue-row-${key}`);
const place = () => byId("queue-decision");
const body = () => place().querySelector(".queue-body");
const isShown = () => body() !== null && body().dataset.key === current;

function say(text) {
  byId("queue-say").textContent = text;
}

function refuse(text) {
  const box = byId("queue-refusal");
  box.hidden = !text;
  box.firstElementChild.textContent = text;
}

/* Reading */

async function fetchText(url) {
  const answer = await fetch(url, { headers: { "X-Requested-With": "fetch" }, credentials: "same-origin" });
  if (!answer.ok || answer.redirected) throw new Error(answer.status === 404 ? word("gone") : `HTTP ${answer.status}`);
  return answer.text();
}

function load(key) {
  if (!pages.has(key)) {
    const page = fetchText(`${queue.dataset.detail}${key}/`);
    page.catch(() => pages.delete(key));
    pages.set(key, page);
    if (pages.size > KEPT_PAGES) pages.delete(pages.keys().next().value);
  }
  return pages.get(key);
}

async function prefetch() {
  const all = rows();
  const at = all.findIndex((row) => keyOf(row) === current);
  for (const row of all.slice(at + 1, at + 1 + AHEAD)) {
    try {
      await load(keyOf(row));
    } catch {
      /* It is asked for again when it is shown. */
    }
  }
}

function mark() {
  for (const row of rows()) {
    const is = keyOf(row) === current;
    row.toggleAttribute("aria-current", is);
    if (is) row.setAttribute("aria-current", "true");
    const box = row.querySelector("input");
    if (box) box.checked = chosen.has(keyOf(row));
    const names = lookers[keyOf(row)] || [];
    const looker = row.querySelector(".queue-looker");
    looker.hidden = names.length === 0;
    looker.textContent = names.join(", ");
  }
  const names = lookers[current] || [];
  const notice = place().querySelector(".queue-lookers");
  if (notice) {
    notice.hidden = names.length === 0;
    notice.textContent = names.length ? word(names.length > 1 ? "look" : "looks", { names: names.join(", ") }) : "";
  }
  const bar = byId("queue-chosen");
  if (bar) {
    bar.hidden = chosen.size === 0;
    bar.firstElementChild.textContent = word("selected", { count: chosen.size });
  }
}

async function show(key, { focus = false, step = "" } = {}) {
  const turn = ++shown;
  current = key;
  mark();
  const row = rowOf(key);
  if (row) row.scrollIntoView({ block: "nearest" });
  if (focus && !step && row) row.querySelector(".queue-link").focus({ preventScroll: true });
  try {
    const html = await load(key);
    if (turn !== shown) return;
    place().innerHTML = html;
  } catch (error) {
    if (turn === shown) refuse(word("unreadable", { reason: error.message }));
    return;
  }
  mark();
  if (focus && step) (place().querySelector(`[data-step="${step}"]`) || place()).focus({ preventScroll: true });
  measure();
  prefetch();
  sayWhereILook();
}

async function refresh() {
  const section = list();
  const url = new URL(section.getAttribute("hx-get"), location.href);
  url.searchParams.set("shown", section.dataset.shown);
  const holder = document.createElement("template");
  try {
    holder.innerHTML = await fetchText(url);
  } catch {
    return; /* The sign of the connection says so. */
  }
  byId("queue-tabs").replaceWith(holder.content.getElementById("queue-tabs"));
  byId("queue-tabs").removeAttribute("hx-swap-oob");
  const scroll = section.scrollTop;
  const fresh = holder.content.getElementById("queue-list");
  section.replaceWith(fresh);
  if (window.htmx) window.htmx.process(fresh);
  fresh.scrollTop = scroll;
  settle();
}

/* After a list came: what was decided here stays away, what a colleague decided is said. */
function settle() {
  const hadFocus = document.activeElement === document.body;
  for (const row of rows()) {
    if (gone.has(keyOf(row))) row.remove();
    else if (pages.has(keyOf(row)) && keyOf(row) === current && isShown() && body().dataset.state !== row.dataset.state) {
      pages.delete(keyOf(row));
      show(keyOf(row));
    }
  }
  const there = new Set(rows().map(keyOf));
  for (const key of chosen) if (!there.has(key)) chosen.delete(key);
  if (current === null && rows().length) show(keyOf(rows()[0]));
  else if (current !== null && !there.has(current) && !gone.has(current) && isShown() && body().dataset.state === "open") {
    pages.delete(current);
    show(current).then(() => {
      if (isShown() && body().dataset.state !== "open") say(`${body().querySelector(".queue-notice:not(.queue-lookers)").textContent.trim()}`);
    });
  }
  mark();
  if (hadFocus && rowOf(current)) rowOf(current).querySelector(".queue-link").focus({ preventScroll: true });
}

let waiting = null;
function refreshSoon(after = 1200) {
  clearTimeout(waiting);
  waiting = setTimeout(refresh, after);
}

/* Writing */

async function post(url, fields) {
  const data = new URLSearchParams();
  for (const [name, values] of Object.entries(fields)) for (const value of [values].flat()) data.append(name, value);
  const token = queue.querySelector("[name=csrfmiddlewaretoken]").value;
  const headers = { Accept: "application/json", "X-CSRFToken": token };
  const answer = await fetch(url, { method: "POST", body: data, headers, credentials: "same-origin" });
  const isJson = (answer.headers.get("Content-Type") || "").includes("json");
  if (!isJson) throw new Error(answer.redirected ? word("signIn") : `HTTP ${answer.status}`);
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.sentence || `HTTP ${answer.status}`);
  return said;
}

function inTurn(work) {
  pending += 1;
  queue.setAttribute("aria-busy", "true");
  sending = sending
    .then(work)
    .catch((error) => {
      refuse(word("notSaved", { reason: error.message }));
      say(word("notSaved", { reason: error.message }));
      gone.clear();
      pages.clear();
      refreshSoon(0);
    })
    .finally(() => {
      pending -= 1;
      if (pending === 0) queue.removeAttribute("aria-busy");
    });
  return sending;
}

function undoStack() {
  try {
    return JSON.parse(sessionStorage.getItem(UNDO_KEY)) || [];
  } catch {
    return [];
  }
}

function keepUndo(stack) {
  try {
    sessionStorage.setItem(UNDO_KEY, JSON.stringify(stack.slice(-MAX_UNDO)));
  } catch {
    /* Then "Mine" undoes. */
  }
  const bar = byId("queue-undo");
  const last = stack[stack.length - 1];
  bar.hidden = !last;
  if (!last) return;
  const values = { sentence: last.text, count: stack.length };
  bar.firstElementChild.textContent = stack.length > 1 ? word("undoable", values) : last.text;
}

/* The decision after those that leave, else the one before. */
function neighbour(leaving) {
  const all = rows();
  const at = all.findIndex((row) => keyOf(row) === current);
  const rest = (row) => !leaving.has(keyOf(row));
  return all.slice(Math.max(at, 0)).find(rest) || all.slice(0, Math.max(at, 0)).reverse().find(rest) || null;
}

function leave(leaving, step) {
  const next = neighbour(leaving);
  for (const key of leaving) {
    gone.add(key);
    pages.delete(key);
    chosen.delete(key);
    rowOf(key)?.remove();
  }
  anchor = null;
  if (next) show(keyOf(next), { focus: true, step });
  else {
    current = null;
    shown += 1;
    const none = document.createElement("p");
    none.className = "queue-none";
    none.textContent = word("nothingLeft");
    place().replaceChildren(none);
    mark();
    sayWhereILook();
    place().focus({ preventScroll: true });
  }
  if (rows().length < REFILL_BELOW) refreshSoon();
}

function decide(step) {
  if (!("mayReview" in queue.dataset)) return say(word("onlySee"));
  refuse("");
  const isMany = chosen.size > 0;
  if (chosen.size > MAX_CHOSEN) return refuse(word("tooMany", { count: MAX_CHOSEN }));
  if (!isMany && !isShown()) return say(word("loading"));
  const button = isMany ? null : place().querySelector(`[data-step="${step}"]`);
  if (!isMany && !button) return say(word("impossible"));
  const targets = isMany
    ? rows().filter((row) => chosen.has(keyOf(row))).map((row) => `${keyOf(row)}:${row.dataset.state}`)
    : [`${current}:${body().dataset.state}`];
  const wasInside = place().contains(document.activeElement) && document.activeElement.dataset.step;
  leave(new Set(targets.map((one) => one.split(":")[0])), wasInside || "");
  return inTurn(async () => {
    const said = await post(queue.dataset.act, { step, receipt: targets });
    if (said.undo) keepUndo([...undoStack(), { token: said.undo, text: said.sentence }]);
    for (const one of said.refused) gone.delete(String(one.key));
    if (said.refused.length) {
      const { reason } = said.refused[0];
      refuse(said.refused.length > 1 ? word("andMore", { reason, count: said.refused.length - 1 }) : reason);
      pages.clear();
    }
    say([said.sentence, ...said.refused.slice(0, 1).map((one) => one.reason)].filter(Boolean).join(" "));
    refreshSoon(said.refused.length ? 0 : undefined);
  });
}

function undoToken(token) {
  refuse("");
  return inTurn(async () => {
    let said = null;
    let count = 0;
    do {
      said = await post(queue.dataset.undo, { token });
      count += said.count;
      if (said.is_last === false) say(word("undoneSoFar", { count }));
    } while (said.is_last === false);
    const refused = said.refused || [];
    for (const key of said.restored || []) gone.delete(String(key));
    if (!said.restored) gone.clear();
    pages.clear();
    const text = count ? word(count === 1 ? "undoneOne" : "undone", { count }) : "";
    const problem = refused.length ? word("notUndone", { reason: refused[0].reason }) : "";
    if (problem) refuse(problem);
    say(`${text} ${problem}`.trim());
    await refresh();
    const back = (said.restored || []).map(String).find((key) => rowOf(key));
    if (back) show(back, { focus: true });
    else if (isShown()) show(current);
  });
}

function undo() {
  inTurn(async () => {}).then(() => {
    const stack = undoStack();
    const last = stack.pop();
    if (!last) return say(word("nothingToUndo"));
    keepUndo(stack);
    return undoToken(last.token);
  });
}

/* Selecting */

function choose(key, is) {
  if (is) chosen.add(key);
  else chosen.delete(key);
  anchor = key;
  mark();
  say(word("selected", { count: chosen.size }));
}

function chooseRange() {
  const all = rows().map(keyOf);
  const ends = [all.indexOf(anchor ?? current), all.indexOf(current)].sort((a, b) => a - b);
  if (ends[0] < 0) return choose(current, true);
  for (const key of all.slice(ends[0], ends[1] + 1)) chosen.add(key);
  mark();
  say(word("selected", { count: chosen.size }));
}

function chooseAll() {
  const all = rows().map(keyOf);
  const isFull = all.length > 0 && all.every((key) => chosen.has(key));
  chosen.clear();
  if (!isFull) for (const key of all) chosen.add(key);
  mark();
  say(word("selected", { count: chosen.size }));
}

function move(by) {
  const all = rows();
  if (!all.length) return;
  const at = all.findIndex((row) => keyOf(row) === current);
  const next = all[at < 0 ? 0 : Math.min(Math.max(at + by, 0), all.length - 1)];
  if (by > 0 && at === all.length - 1 && list().querySelector("[data-more]")) showMore();
  show(keyOf(next), { focus: true });
}

function showMore() {
  const section = list();
  section.dataset.shown = String(Number(section.dataset.shown) + 100);
  refresh();
}

/* Accept all that are alike */

async function openAlike(url) {
  const dialog = byId("queue-alike");
  try {
    dialog.innerHTML = await fetchText(url);
  } catch (error) {
    return refuse(word("unreadable", { reason: error.message }));
  }
  return dialog.showModal();
}

function acceptAlike(button) {
  const dialog = byId("queue-alike");
  const form = button.closest("form");
  button.disabled = true;
  return inTurn(async () => {
    let token = form.dataset.token;
    let count = 0;
    let said = null;
    try {
      do {
        said = await post(queue.dataset.acceptAlike, { token });
        token = said.undo;
        count += said.count;
        dialog.querySelector("[data-progress]").textContent = word("acceptedSoFar", { count });
      } while (!said.is_last);
    } finally {
      const text = word(count === 1 ? "acceptedOne" : "accepted", { count });
      if (count) keepUndo([...undoStack(), { token, text }]);
      dialog.close();
      pages.clear();
      say(text);
    }
    const before = current;
    await refresh();
    if (rowOf(before) === null) {
      if (rows().length) show(keyOf(rows()[0]), { focus: true });
      else leave(new Set([before]), "");
    }
  });
}

/* Presence */

async function sayWhereILook() {
  if (document.hidden) return;
  try {
    const said = await post(queue.dataset.presence, { receipt: current ?? "" });
    lookers = said.lookers;
    mark();
  } catch {
    lookers = {};
  }
}

/* Keys and clicks */

function isTyping(target) {
  return target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]") !== null;
}

function areKeysOn() {
  return localStorage.getItem(KEYS_KEY) !== "off";
}

function openHelp() {
  byId("queue-keys-on").checked = areKeysOn();
  byId("queue-help").showModal();
}

function onKey(event) {
  const { key, target } = event;
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.repeat && key !== "j" && key !== "k") return;
  if (isTyping(target) || document.querySelector("dialog[open]") || !areKeysOn()) return;
  const name = key.length === 1 ? key.toLowerCase() : key;
  if (event.shiftKey && !["x", "*", "?", "/"].includes(name)) return;
  const isElsewhere = target !== document.body && !queue.contains(target);
  if (key === "Enter") {
    if (target !== document.body && target !== place() && !target.closest(".queue-link")) return;
    if (body()) location.assign(body().dataset.full);
  } else if (isElsewhere) return;
  else if (name === "j") move(1);
  else if (name === "k") move(-1);
  else if (name in STEPS) decide(STEPS[name]);
  else if (name === "u") undo();
  else if (name === "x" && "mayReview" in queue.dataset && rowOf(current)) {
    if (event.shiftKey) chooseRange();
    else choose(current, !chosen.has(current));
  } else if (name === "*" && "mayReview" in queue.dataset) chooseAll();
  else if (name === "?") openHelp();
  else if (name === "/") byId("queue-words").focus();
  else return;
  event.preventDefault();
}

function onClick(event) {
  const at = (selector) => event.target.closest(selector);
  const link = at(".queue-link");
  if (link) {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    queue.classList.add("queue-reading");
    show(keyOf(link.closest("[data-key]")), { focus: true });
    if (matchMedia("(width < 64rem)").matches) window.scrollTo(0, 0);
  } else if (at("[data-step]")) decide(at("[data-step]").dataset.step);
  else if (at("[data-chosen-step]")) decide(at("[data-chosen-step]").dataset.chosenStep);
  else if (at("[data-clear]")) {
    chosen.clear();
    mark();
  } else if (at("[data-choose-all]")) chooseAll();
  else if (at("[data-undo-last]")) undo();
  else if (at("[data-undo-this]")) {
    const token = at("form").querySelector("[name=token]").value;
    if (queue.dataset.view === "mine") leave(new Set([current]), "");
    undoToken(token);
  } else if (at("[data-alike]")) openAlike(at("[data-alike]").dataset.alike);
  else if (at("[data-accept-all]")) acceptAlike(at("[data-accept-all]"));
  else if (at("[data-more]")) showMore();
  else if (at("[data-help]")) openHelp();
  else if (at("#queue-refusal .queue-close")) refuse("");
  else if (at("[data-back]")) {
    queue.classList.remove("queue-reading");
    rowOf(current)?.querySelector(".queue-link").focus();
  } else return;
  event.preventDefault();
}

function explain(event) {
  const button = event.target.closest("[data-step]");
  if (!button) return;
  for (const one of place().querySelectorAll("[data-will]")) one.hidden = one.dataset.will !== button.dataset.step;
}

function measure() {
  const top = queue.querySelector(".queue-columns").getBoundingClientRect().top + window.scrollY;
  queue.style.setProperty("--queue-top", `${Math.round(top)}px`);
}

function begin() {
  document.addEventListener("keydown", onKey);
  queue.addEventListener("click", onClick);
  queue.addEventListener("focusin", explain);
  queue.addEventListener("mouseover", explain);
  queue.addEventListener("change", (event) => {
    const row = event.target.closest(".queue-row");
    if (row) choose(keyOf(row), event.target.checked);
    if (event.target.id === "queue-keys-on") localStorage.setItem(KEYS_KEY, event.target.checked ? "on" : "off");
  });
  /* A hint that something changed fetches the list again: what is selected and where the list was stays. */
  let scroll = 0;
  queue.addEventListener("htmx:configRequest", (event) => {
    if (event.target.id === "queue-list") event.detail.parameters.shown = event.target.dataset.shown;
  });
  queue.addEventListener("htmx:beforeSwap", () => {
    scroll = list().scrollTop;
  });
  queue.addEventListener("htmx:afterSettle", () => {
    list().scrollTop = scroll;
    settle();
  });
  window.addEventListener("resize", measure);
  window.addEventListener("beforeunload", (event) => {
    if (pending > 0) event.preventDefault(); /* Steps are on their way. */
  });
  document.addEventListener("visibilitychange", sayWhereILook);
  setInterval(sayWhereILook, PRESENCE_MS);
  queue.classList.toggle("queue-reading", "isReading" in queue.dataset);
  keepUndo(undoStack());
  if (body()) {
    current = body().dataset.key;
    pages.set(current, Promise.resolve(place().innerHTML));
  }
  mark();
  measure();
  prefetch();
  sayWhereILook();
  if (rowOf(current) && document.activeElement === document.body) rowOf(current).querySelector(".queue-link").focus({ preventScroll: true });
}

begin();
