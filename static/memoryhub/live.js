"use strict";

/* Parts of a page that are fetched again when something has changed.

   A part is an element with data-live="topic topic" whose hx-trigger is `live`. The socket says topics and versions, and
   never contents: each part is fetched with the permissions of its viewer. While the socket is closed, all parts are
   fetched every 15 seconds. Other scripts may listen on document for `mh:topic` with detail {topic, version}. */

(() => {
  const MODE = new URL(document.currentScript.src).hash.slice(1);
  if (MODE !== "socket" && MODE !== "poll") return;

  const POLL_MS = 15_000;
  /* The hub sends something every 10 seconds; a socket that is silent for longer is dead. */
  const SILENT_MS = 25_000;
  const FIRST_WAIT_MS = 300;
  const LONGEST_WAIT_MS = 4_500;
  /* Browsers do not all ask in the same instant, and no part is fetched more often than once a second. */
  const SPREAD_MS = 250;
  const EVERY_MS = 1_000;
  const STEADY_MS = 5_000;
  const SIGNED_OUT = 4401;
  const REFUSED = 403;
  const TYPED_INTO =
    "input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=reset], [type=range]), textarea, select, " +
    "[contenteditable]:not([contenteditable=false])";

  let socket = null;
  let attempts = 0;
  let openedAt = 0;
  let heardAt = 0;
  let wasOpen = false;
  let isLeaving = false;
  let isSignedOut = false;
  let isChecking = false;
  let knownAt = new Date();
  let timer = 0;
  let dot, words, said, banner;

  const now = () => performance.now();
  const isOpen = () => socket !== null && socket.readyState === WebSocket.OPEN;
  const clock = (date) => date.toLocaleTimeString(document.documentElement.lang, { hourCycle: "h23", timeZoneName: "short" });
  /* Words of the page, in the language of its reader: live/words.html. */
  const word = (name) => document.getElementById("live-words").dataset[name].replace("{time}", clock(knownAt));

  /* --- parts ------------------------------------------------------------------------------------------------ */

  const states = new WeakMap();
  const parts = () => [...document.querySelectorAll("[data-live]")];
  const topicsOf = (part) => part.dataset.live.split(/\s+/);

  function stateOf(part) {
    if (!states.has(part)) states.set(part, { timer: 0, isBusy: false, isStale: false, hasFailed: false, at: -EVERY_MS });
    return states.get(part);
  }

  /* Whether the viewer types in a part, or has a dialog open: then it is left alone until that is over. */
  function isOccupied(part) {
    const active = document.activeElement;
    if (active && part.contains(active) && active.matches(TYPED_INTO)) return true;
    const overlay = document.getElementById("modal-overlay");
    if (overlay && overlay.getClientRects().length) return true;
    return [...part.querySelectorAll("dialog[open], [role=dialog]")].some((dialog) => dialog.getClientRects().length);
  }

  function ask(part) {
    const state = stateOf(part);
    if (state.timer) return;
    const wait = Math.max(Math.random() * SPREAD_MS, state.at + EVERY_MS - now());
    state.timer = setTimeout(() => {
      state.timer = 0;
      fetchPart(part, state);
    }, wait);
  }

  function fetchPart(part, state) {
    if (!part.isConnected || isSignedOut) return;
    state.isStale = state.isBusy || document.hidden || isOccupied(part);
    if (state.isStale) return;
    state.at = now();
    part.dispatchEvent(new CustomEvent("live", { bubbles: false }));
  }

  const hasFailed = () => parts().some((part) => stateOf(part).hasFailed);
  const askAll = () => parts().forEach(ask);
  const askStale = () => parts().filter((part) => stateOf(part).isStale && !stateOf(part).isBusy).forEach(ask);

  /* --- what the page says of itself ------------------------------------------------------------------------- */

  function show(state, text, sentence) {
    if (dot.dataset.state !== state) said.textContent = sentence;
    dot.dataset.state = state;
    words.textContent = text;
    dot.title = sentence;
  }

  function showState() {
    if (isSignedOut) show("off", word("signedOut"), word("signedOutSentence"));
    else if ((isOpen() || MODE === "poll") && document.querySelector("[data-alarm]"))
      show("alarm", word("inAlarm"), word("inAlarmSentence"));
    else if (isOpen()) show("live", word("liveNow"), word("liveNowSentence"));
    else if (MODE === "poll") show("poll", word("polling"), word("pollingSentence"));
    else if (!wasOpen && attempts < 2) show("wait", word("connecting"), word("connectingSentence"));
    else show("wait", word("reconnecting"), word("reconnectingSentence"));
  }

  function element(name, className, text = "") {
    const made = document.createElement(name);
    made.className = className;
    made.textContent = text;
    return made;
  }

  function makeState() {
    dot = document.getElementById("live-state");
    if (!dot) {
      dot = element("span", "");
      dot.id = "live-state";
      const place = document.querySelector("#header-inner .ml-auto") || document.body;
      place.prepend(dot);
    }
    dot.classList.add("mh-live");
    const sign = element("span", "mh-live-sign");
    words = element("span", "mh-live-words");
    said = element("span", "mh-hidden");
    said.setAttribute("role", "status");
    said.setAttribute("aria-live", "polite");
    for (const hidden of [sign, words]) hidden.setAttribute("aria-hidden", "true");
    dot.replaceChildren(sign, words, said);
    /* A region that says something must be there before it does. */
    banner = element("div", "mh-live-banner");
    banner.setAttribute("role", "status");
    banner.setAttribute("aria-live", "polite");
    const content = document.getElementById("content");
    (content ? content.parentElement : document.body).prepend(banner);
  }

  function showBanner(title, lines, link) {
    const list = element("ul", "");
    for (const line of lines) list.append(element("li", "", line));
    const contents = [element("strong", "", title), ...(lines.length ? [list] : [])];
    if (link) {
      const anchor = element("a", "mh-link", link);
      anchor.href = `/accounts/login/?next=${encodeURIComponent(location.pathname + location.search)}`;
      contents.push(anchor);
    }
    const text = contents.map((one) => one.textContent).join("\n");
    if (banner.dataset.text === text) return;
    banner.dataset.text = text;
    banner.replaceChildren(...contents);
  }

  function hideBanner() {
    if (isSignedOut || !banner.dataset.text) return;
    delete banner.dataset.text;
    banner.replaceChildren();
  }

  /* Checks that fail for one reason are one line. */
  function linesOf(checks) {
    const names = new Map();
    for (const [name, answer] of checks) names.set(answer, [...(names.get(answer) || []), name]);
    return [...names].map(([answer, failing]) => `${failing.join(", ")}: ${answer}`);
  }

  /* Ask the hub what is wrong, and say so where a part could not be fetched, or nothing is heard. */
  async function checkHub() {
    if (isChecking || isSignedOut) return;
    isChecking = true;
    try {
      const response = await fetch("/readyz", { cache: "no-store", signal: AbortSignal.timeout(POLL_MS) });
      const checks = Object.entries((await response.json()).checks || {}).filter(([, answer]) => answer !== "ok");
      if (!hasFailed() && (isOpen() || !checks.length)) hideBanner();
      else if (checks.length) showBanner(word("notReady"), linesOf(checks));
      else showBanner(word("partFailed"), []);
    } catch {
      if (!isLeaving && !isSignedOut) showBanner(word("unreachable"), []);
    } finally {
      isChecking = false;
    }
  }

  function signOut() {
    if (isSignedOut) return;
    showBanner(word("signedOutSentence"), [], word("signIn"));
    isSignedOut = true;
    clearTimeout(timer);
    drop();
    showState();
  }

  /* What the viewer may not see any more goes away; it comes back with the next answer that has it. */
  function refuse(part) {
    const said = element("p", "mh-note", word("refused"));
    said.setAttribute("role", "status");
    part.replaceChildren(said);
  }

  /* --- the socket ------------------------------------------------------------------------------------------- */

  /* When the oldest part was made: the hub sends at once what has changed since. */
  function since() {
    const times = [...document.querySelectorAll("time[data-as-of]")].map((time) => Date.parse(time.dateTime));
    const oldest = Math.min(...times.filter(Number.isFinite));
    return Number.isFinite(oldest) ? `?since=${oldest}` : "";
  }

  function connect() {
    clearTimeout(timer);
    if (isLeaving || isSignedOut || MODE !== "socket" || socket) return;
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const made = new WebSocket(`${scheme}//${location.host}/live${since()}`);
    socket = made;
    made.onopen = () => {
      openedAt = heardAt = now();
      if (wasOpen || attempts) askAll();
      wasOpen = true;
      if (banner.dataset.text) checkHub();
      showState();
    };
    made.onmessage = (event) => hear(event.data);
    made.onclose = (event) => {
      if (socket === made) lose(event.code);
    };
  }

  function hear(text) {
    heardAt = now();
    const { topic, version } = JSON.parse(text);
    if (topic === "alive") return;
    parts()
      .filter((part) => topic === "tick" || topicsOf(part).includes(topic))
      .forEach(ask);
    document.dispatchEvent(new CustomEvent("mh:topic", { detail: { topic, version } }));
  }

  function drop() {
    const dropped = socket;
    socket = null;
    if (dropped) dropped.close();
  }

  function lose(code) {
    const lived = openedAt ? now() - openedAt : 0;
    if (openedAt) knownAt = new Date();
    if (lived > STEADY_MS) attempts = 0;
    openedAt = 0;
    drop();
    if (code === SIGNED_OUT) return signOut();
    attempts += 1;
    if (attempts === 2) checkHub();
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempts - 1));
    clearTimeout(timer);
    timer = setTimeout(connect, longest * (0.5 + Math.random() / 2));
    showState();
  }

  function poll() {
    if (isSignedOut || isLeaving || document.hidden || (isOpen() && !hasFailed())) return;
    askAll();
    if (!isOpen() && MODE === "socket") checkHub();
  }

  function watch() {
    if (isOpen() && now() - heardAt > SILENT_MS) {
      knownAt = new Date(Date.now() - (now() - heardAt));
      openedAt = 0;
      lose(0);
    }
    askStale();
  }

  /* --- htmx ------------------------------------------------------------------------------------------------- */

  const livePart = (event) => {
    const part = event.detail.elt || event.target;
    return part instanceof Element && part.matches("[data-live]") ? part : null;
  };

  function begin(event) {
    const part = livePart(event);
    if (part) stateOf(part).isBusy = true;
  }

  function finish(event) {
    const part = livePart(event);
    if (!part) return;
    const state = stateOf(part);
    state.isBusy = false;
    const { xhr, successful } = event.detail;
    state.hasFailed = !successful && !isLeaving && xhr.status !== REFUSED;
    if (successful) {
      if (!isOpen()) knownAt = new Date();
      if (!hasFailed()) hideBanner();
      showState();
    } else if (xhr.status === 401) signOut();
    else if (xhr.status === REFUSED) refuse(part);
    else checkHub();
    if (state.isStale) ask(part);
  }

  /* A session that has ended answers with the page to sign in, which is no part of this one. */
  function keepForeignPagesOut(event) {
    const { xhr, pathInfo, elt } = event.detail;
    if (!elt.matches("[data-live]") || !xhr.responseURL) return;
    if (new URL(xhr.responseURL).pathname === new URL(pathInfo.requestPath, location.href).pathname) return;
    event.detail.shouldSwap = false;
    signOut();
  }

  function start() {
    document.body.setAttribute("hx-ext", "morph");
    /* What the viewer has unfolded stays so. */
    Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) => !(name === "open" && node.matches("details"));
    makeState();
    document.body.addEventListener("htmx:beforeRequest", begin);
    document.body.addEventListener("htmx:afterRequest", finish);
    document.body.addEventListener("htmx:beforeSwap", keepForeignPagesOut);
    document.body.addEventListener("htmx:afterSettle", showState);
    document.addEventListener("focusout", () => setTimeout(askStale));
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) return;
      askStale();
      if (!isOpen()) {
        connect();
        poll();
      }
    });
    window.addEventListener("online", connect);
    window.addEventListener("pagehide", () => {
      isLeaving = true;
      drop();
    });
    window.addEventListener("pageshow", (event) => {
      if (!event.persisted) return;
      isLeaving = false;
      connect();
      askAll();
    });
    setInterval(poll, POLL_MS);
    setInterval(watch, EVERY_MS);
    connect();
    showState();
  }

  document.addEventListener("DOMContentLoaded", start);
})();
