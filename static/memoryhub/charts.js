"use strict";

/* Charts: colours that follow the theme, and new numbers in a chart that stays. The theme draws each `canvas.chart` once,
   when the page has loaded; a part of a page that came later names a chart and its numbers in `data-chart`. */

(() => {
  const VARIABLE = /^var\((--[\w-]+)\)$/;

  function colourOf(value) {
    const found = typeof value === "string" && value.match(VARIABLE);
    return found ? getComputedStyle(document.documentElement).getPropertyValue(found[1]).trim() : value;
  }

  function numbersOf(canvas) {
    const numbers = JSON.parse(canvas.dataset.value);
    for (const one of numbers.datasets) {
      one.backgroundColor = colourOf(one.backgroundColor);
      one.borderColor = colourOf(one.borderColor);
    }
    return numbers;
  }

  function draw(canvas) {
    const chart = Chart.getChart(canvas);
    if (!chart) return;
    const text = colourOf("var(--mh-quiet)");
    const line = colourOf("var(--mh-line)");
    for (const scale of Object.values(chart.options.scales)) {
      scale.ticks.color = text;
      scale.title.color = text;
      scale.grid.color = line;
    }
    chart.data = numbersOf(canvas);
    chart.update("none");
  }

  function drawAll() {
    document.querySelectorAll("canvas.chart[data-value]").forEach(draw);
  }

  function takeNumbers() {
    for (const source of document.querySelectorAll("[data-chart]")) {
      const canvas = document.querySelector(`#chart-${CSS.escape(source.dataset.chart)} canvas`);
      if (canvas && canvas.dataset.value !== source.dataset.value) {
        canvas.dataset.value = source.dataset.value;
        draw(canvas);
      }
    }
  }

  /* The theme draws on load, too, and is asked first. */
  window.addEventListener("load", () => setTimeout(drawAll));
  document.addEventListener("htmx:afterSettle", takeNumbers);
  new MutationObserver(drawAll).observe(document.documentElement, { attributeFilter: ["class"] });
})();
