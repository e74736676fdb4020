"use strict";

/* The bars of the stream: a click narrows it to one of them, drawing over several to all of these. The links below the
   chart do the same without a mouse. */

(() => {
  let begun = null;

  function barAt(canvas, event) {
    const chart = Chart.getChart(canvas);
    if (!chart) return null;
    const x = event.clientX - canvas.getBoundingClientRect().left;
    const last = chart.data.labels.length - 1;
    return Math.min(last, Math.max(0, chart.scales.x.getValueForPixel(x)));
  }

  function narrow(box, first, last) {
    const bars = box.parentElement.querySelectorAll("[data-bar]");
    const address = new URL(box.dataset.brush, location.href);
    address.searchParams.set("from", bars[Math.min(first, last)].dataset.from);
    address.searchParams.set("to", bars[Math.max(first, last)].dataset.to);
    location.assign(address);
  }

  document.addEventListener("pointerdown", (event) => {
    const canvas = event.target.closest("[data-brush] canvas");
    begun = canvas && event.button === 0 ? { canvas, bar: barAt(canvas, event) } : null;
  });

  document.addEventListener("pointerup", (event) => {
    if (!begun) return;
    const { canvas, bar } = begun;
    begun = null;
    if (event.target === canvas && bar !== null) narrow(canvas.closest("[data-brush]"), bar, barAt(canvas, event));
  });
})();
