/* Draws each `figure.chart` from its JSON, and lets the arrow keys move over its bars or points. */
"use strict";

(() => {
  const { config, isSideways, open, spokenText } = spotterCharts;
  const charts = new Map();

  function highlight(chart, data, place) {
    const active = data.series.flatMap((one, datasetIndex) =>
      Number.isFinite(one.y[place]) ? [{ datasetIndex, index: place }] : []);
    const { x, y } = active.length ? chart.getDatasetMeta(active[0].datasetIndex).data[place] : { x: 0, y: 0 };
    chart.setActiveElements(active);
    chart.tooltip.setActiveElements(active, { x, y });
    chart.update("none");
  }

  function nextPosition(key, at, count) {
    if (key === "ArrowRight" || key === "ArrowDown") return Math.min(count - 1, at + 1);
    if (key === "ArrowLeft" || key === "ArrowUp") return Math.max(0, at - 1);
    if (key === "PageDown") return Math.min(count - 1, at + Math.ceil(count / 20));
    if (key === "PageUp") return Math.max(0, at - Math.ceil(count / 20));
    return { Home: 0, End: count - 1 }[key];
  }

  function addKeys(canvas, data) {
    const order = data.x.map((_, place) => place);
    if (data.kind === "points") order.sort((a, b) => data.x[a] - data.x[b] || a - b);
    const status = document.createElement("p");
    status.className = "sr";
    status.setAttribute("aria-live", "polite");
    canvas.after(status);
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-label", `${canvas.getAttribute("aria-label")}. Arrow keys move, Enter opens.`);
    let at = -1;
    canvas.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && at >= 0) return open(data.hrefs[order[at]], event.ctrlKey || event.metaKey);
      const next = nextPosition(event.key, at, order.length);
      if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      at = next;
      highlight(charts.get(canvas), data, order[at]);
      status.textContent = spokenText(data, order[at]);
    });
    canvas.addEventListener("blur", () => highlight(charts.get(canvas), data, -1));
  }

  // --- start -------------------------------------------------------------------------------------

  function read(figure) {
    return JSON.parse(figure.querySelector(".chart-data").textContent);
  }

  function draw(figure) {
    const canvas = figure.querySelector("canvas");
    const data = read(figure);
    charts.get(canvas)?.destroy();
    if (isSideways(data)) canvas.parentElement.style.height = `${Math.min(900, Math.max(240, 60 + 18 * data.x.length))}px`;
    charts.set(canvas, new Chart(canvas, config(data, figure)));
  }

  function drawAll() {
    document.querySelectorAll("figure.chart").forEach(draw);
  }

  function start() {
    if (!window.Chart) return;
    drawAll();
    for (const [canvas] of charts) {
      const data = read(canvas.closest("figure"));
      if (data.hrefs.some(Boolean)) addKeys(canvas, data);
    }
    document.addEventListener("spotter:theme", drawAll);
    // print uses the light colours
    matchMedia("print").addEventListener("change", drawAll);
  }

  start();
})();
