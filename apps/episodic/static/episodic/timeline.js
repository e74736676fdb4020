"use strict";

/* A range of the bars of the timeline, drawn with a pointer or moved by the arrow keys. The bars stay; the list below is
   fetched for the range. Without this script the form and the table of the bars do the same. */

(() => {
  const WAIT_MS = 350;
  let drawn = null;

  const barsOf = (plot) => [...plot.querySelectorAll("[data-bar]")];
  const clamp = (number, last) => Math.min(last, Math.max(0, number));

  /* The page has the sentences, in the language of the reader. */
  const said = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => values[name]);

  function rangeOf(plot) {
    return plot.dataset.first === undefined ? null : [Number(plot.dataset.first), Number(plot.dataset.last)];
  }

  /* What is said of a range: where it begins and ends, and how much is in it. */
  function describe(plot) {
    const bars = barsOf(plot);
    const range = rangeOf(plot);
    const [first, last] = range || [0, bars.length - 1];
    const count = bars.slice(first, last + 1).reduce((sum, bar) => sum + Number(bar.dataset.count), 0);
    const values = { from: bars[first].dataset.from, to: bars[last].dataset.to, count };
    const words = said(plot.dataset.wordsRange, values);
    plot.setAttribute("aria-valuenow", String(range ? first : 0));
    plot.setAttribute("aria-valuetext", range ? words : said(plot.dataset.wordsNone, { range: words }));
  }

  function paint(plot, range) {
    if (range) [plot.dataset.first, plot.dataset.last] = range;
    else ["first", "last"].forEach((name) => delete plot.dataset[name]);
    barsOf(plot).forEach((bar, index) => {
      bar.classList.toggle("is-in", range !== null && range[0] <= index && index <= range[1]);
    });
    plot.classList.toggle("has-range", range !== null);
    describe(plot);
  }

  function withRange(address, plot) {
    const url = new URL(address, location.href);
    const bars = barsOf(plot);
    const range = rangeOf(plot);
    url.searchParams.delete("cursor");
    for (const [name, value] of [["from", range && bars[range[0]].dataset.from], ["to", range && bars[range[1]].dataset.to]]) {
      if (value) url.searchParams.set(name, value);
      else url.searchParams.delete(name);
    }
    return url;
  }

  function apply(plot) {
    const url = withRange(plot.dataset.brush, plot);
    for (const link of document.querySelectorAll("a[data-ranged]")) link.href = withRange(link.href, plot);
    for (const name of ["from", "to"]) {
      const field = document.querySelector(`form[data-ranged] [name=${name}]`);
      if (field) field.value = url.searchParams.get(name) || "";
    }
    history.replaceState(history.state, "", url);
    const target = `#${plot.dataset.fetch}`;
    htmx.ajax("GET", url.pathname + url.search, { target, select: target, swap: "outerHTML" });
  }

  function applySoon(plot) {
    clearTimeout(plot.timer);
    plot.timer = setTimeout(() => apply(plot), WAIT_MS);
  }

  /* --- pointer ---------------------------------------------------------------------------------------------- */

  function barAt(plot, event) {
    const bars = barsOf(plot);
    const box = plot.querySelector(".mh-plot-bars").getBoundingClientRect();
    return clamp(Math.floor(((event.clientX - box.left) / box.width) * bars.length), bars.length - 1);
  }

  const ordered = (one, other) => [Math.min(one, other), Math.max(one, other)];

  document.addEventListener("pointerdown", (event) => {
    const area = event.target.closest("[data-brush] .mh-plot-bars");
    if (!area || event.button !== 0) return;
    const plot = area.closest("[data-brush]");
    drawn = { plot, bar: barAt(plot, event) };
    plot.focus({ preventScroll: true });
    event.preventDefault();
    paint(plot, [drawn.bar, drawn.bar]);
  });

  document.addEventListener("pointermove", (event) => {
    if (drawn) paint(drawn.plot, ordered(drawn.bar, barAt(drawn.plot, event)));
  });

  document.addEventListener("pointerup", (event) => {
    if (!drawn) return;
    const { plot, bar } = drawn;
    drawn = null;
    paint(plot, ordered(bar, barAt(plot, event)));
    apply(plot);
  });

  document.addEventListener("pointercancel", () => {
    if (drawn) paint(drawn.plot, null);
    drawn = null;
  });

  /* --- keyboard --------------------------------------------------------------------------------------------- */

  function moved(range, by, last) {
    const length = range[1] - range[0];
    const first = clamp(range[0] + by, last - length);
    return [first, first + length];
  }

  function narrowed(range) {
    return range[1] - range[0] < 2 ? [range[1], range[1]] : [range[0] + 1, range[1] - 1];
  }

  const KEYS = {
    ArrowLeft: (range, last) => moved(range, -1, last),
    ArrowRight: (range, last) => moved(range, 1, last),
    ArrowUp: ([first, end], last) => [clamp(first - 1, last), clamp(end + 1, last)],
    ArrowDown: (range) => narrowed(range),
    PageUp: (range, last) => moved(range, range[0] - range[1] - 1, last),
    PageDown: (range, last) => moved(range, range[1] - range[0] + 1, last),
    Home: (range, last) => moved(range, -last, last),
    End: (range, last) => moved(range, last, last),
  };

  document.addEventListener("keydown", (event) => {
    const plot = event.target;
    if (!(plot instanceof Element) || !plot.matches("[data-brush][role=slider]") || event.ctrlKey || event.metaKey || event.altKey) return;
    const range = rangeOf(plot);
    const last = barsOf(plot).length - 1;
    if (event.key === "Escape" && range) paint(plot, null);
    else if (KEYS[event.key]) paint(plot, range ? KEYS[event.key](range, last) : [last, last]);
    else return;
    event.preventDefault();
    applySoon(plot);
  });

  /* --- the slider of retention ------------------------------------------------------------------------------ */

  /* Bars before the moment from which events are kept are shaded at once; the numbers by type are fetched. */
  function shade(form) {
    const days = Number(form.querySelector("[type=number]").value);
    if (!(days >= 1)) return;
    const from = Date.parse(form.dataset.now) - days * 86_400_000;
    for (const bar of document.querySelectorAll("#retention-plot [data-bar]")) {
      bar.classList.toggle("is-going", Date.parse(`${bar.dataset.from}Z`) < from);
    }
  }

  function fetchNumbers(form) {
    const url = new URL(form.action, location.href);
    url.search = new URLSearchParams(new FormData(form)).toString();
    history.replaceState(history.state, "", url);
    htmx.ajax("GET", url.pathname + url.search, { target: "#retention-going", select: "#retention-going", swap: "outerHTML" });
  }

  document.addEventListener("input", (event) => {
    const form = event.target.closest("form[data-retention]");
    if (!form) return;
    const [slider, field] = ["[type=range]", "[type=number]"].map((one) => form.querySelector(one));
    if (event.target === slider) field.value = slider.value;
    else if (event.target === field) slider.value = field.value;
    else return;
    slider.setAttribute("aria-valuetext", said(slider.dataset.words, { days: field.value }));
    shade(form);
    clearTimeout(form.timer);
    if (field.checkValidity()) form.timer = setTimeout(() => fetchNumbers(form), WAIT_MS);
  });

  document.addEventListener("DOMContentLoaded", () => {
    document.documentElement.classList.add("mh-has-scripts");
    for (const plot of document.querySelectorAll("[data-brush]")) {
      if (!barsOf(plot).length) continue;
      plot.setAttribute("role", "slider");
      plot.setAttribute("aria-label", plot.dataset.wordsLabel);
      plot.setAttribute("aria-valuemin", "0");
      plot.setAttribute("aria-valuemax", String(barsOf(plot).length - 1));
      plot.tabIndex = 0;
      paint(plot, rangeOf(plot));
    }
  });
})();
