/* Turns the data of a `figure.chart` into the options of Chart.js. */
"use strict";

const spotterCharts = (() => {
  const MANY = 60; // more bars than this have no room for whiskers
  const CUT = 22;
  const JITTER = 0.22; // of the distance to the next value

  // --- texts -------------------------------------------------------------------------------------

  function number(value, isWhole = Number.isInteger(value)) {
    if (!Number.isFinite(value)) return "–";
    if (isWhole || Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
    return Math.abs(value) >= 0.001 || !value ? value.toFixed(3) : value.toExponential(1);
  }

  function isCount(series) {
    return !series.low.length && series.y.every(Number.isInteger) && Math.max(...series.y) > 1;
  }

  // two names must not become the same label: names often share their beginning
  function shortNames(names) {
    const cut = (head, tail) => names.map((name) => (name.length > CUT ? `${name.slice(0, head)}…${tail ? name.slice(-tail) : ""}` : name));
    const isDistinct = (labels) => new Set(labels).size === new Set(names).size;
    const found = [cut(CUT - 1, 0), cut(7, CUT - 8), cut(0, CUT - 1)].find(isDistinct);
    return found ?? names.map((name, place) => (name.length > CUT ? `${place + 1}: ${name.slice(0, CUT - 6)}…` : name));
  }

  function valueText(series, place) {
    const [low, high] = [series.low[place], series.high[place]];
    const bounds = Number.isFinite(low) && Number.isFinite(high) ? ` (${number(low, false)} … ${number(high, false)})` : "";
    return number(series.y[place], isCount(series)) + bounds;
  }

  function placeText(data, place) {
    const x = data.x[place];
    const where = typeof x === "number" ? `${data.xLabel.split(",")[0]} ${number(x)}` : x;
    const label = data.labels[place];
    if (!label) return where;
    return data.kind === "bars" && typeof x === "number" ? label : `${label}, ${where}`;
  }

  function spokenText(data, place) {
    const values = data.series.filter((one) => Number.isFinite(one.y[place]));
    const texts = values.map((one) => `${one.name} ${valueText(one, place)}`);
    return [placeText(data, place), ...texts].join("; ");
  }

  // --- colours -----------------------------------------------------------------------------------

  function palette(figure) {
    const style = getComputedStyle(figure);
    const read = (name) => style.getPropertyValue(name).trim();
    return {
      text: read("--muted"),
      grid: read("--grid"),
      strong: read("--text"),
      surface: read("--surface"),
      tip: read("--tip"),
      tipText: read("--tip-text"),
      series: [read("--series-1"), read("--series-2"), read("--series-3"), read("--series-4")],
      font: style.fontFamily,
    };
  }

  // in a comparison the colour shows the run and the dash shows the score; else both show the series
  function seriesStyles(data, colours) {
    const isCompared = data.series.length > 1 && data.series.every((one) => /^[AB] /.test(one.name));
    const half = Math.ceil(data.series.length / 2);
    return data.series.map((one, index) => ({
      colour: colours.series[isCompared ? Number(one.name[0] === "B") : index % 4],
      dash: (isCompared ? index % half : index) % 2 ? [5, 4] : [],
      shape: (isCompared ? one.name[0] === "B" : index % 2) ? "rectRot" : "circle",
    }));
  }

  // the colour variables of the page all have the form #rrggbb
  const fade = (colour, share) => colour + Math.round(share * 255).toString(16).padStart(2, "0");

  function mix(colour, other, share) {
    const part = (text, at) => parseInt(text.slice(at, at + 2), 16);
    const blend = (at) => Math.round(share * part(colour, at) + (1 - share) * part(other, at));
    return `rgb(${blend(1)} ${blend(3)} ${blend(5)})`;
  }

  // the area of a point shows its size; many points have less room each
  function radii(data) {
    const largest = Math.max(...data.sizes);
    const [least, most] = data.sizes.length > 300 ? [1.2, 5] : [2.5, 16];
    return data.sizes.map((size) => Math.max(least, Math.min(4 * Math.sqrt(size), most * Math.sqrt(size / largest))));
  }

  // the place alone decides, so that a point is in the same place after each reload
  function jitter(data, series) {
    if (!data.isJittered) return () => 0;
    const values = [...new Set(series.y.filter(Number.isFinite))].sort((a, b) => a - b);
    const gaps = values.slice(1).map((value, index) => value - values[index]);
    const room = JITTER * (gaps.length ? Math.min(...gaps) : 1);
    return (place) => room * (2 * ((place * 0.618034) % 1) - 1);
  }

  function dataset(data, series, look, colours) {
    const common = { label: series.name, borderColor: look.colour };
    if (data.kind === "bars") {
      const isDense = data.x.length > MANY;
      const gaps = isDense ? { barPercentage: 1, categoryPercentage: 1 } : { borderRadius: 2 };
      const fill = mix(look.colour, colours.surface, isDense ? 0.6 : 0.85); // transparent bars would show a moiré pattern
      return { ...common, ...gaps, maxBarThickness: 56, data: series.y, backgroundColor: fill, hoverBackgroundColor: look.colour };
    }
    const spread = jitter(data, series);
    const points = series.y.map((y, place) => ({ x: data.x[place], y: Number.isFinite(y) ? y + spread(place) : y }));
    if (data.kind === "lines") {
      const drawn = { borderDash: look.dash, borderWidth: 2, pointRadius: points.length > 40 ? 0 : 3 };
      return { ...common, ...drawn, data: points, pointStyle: look.shape, backgroundColor: look.colour, clip: 8 };
    }
    const alpha = data.sizes.length ? 0.6 : Math.min(0.6, Math.max(0.15, 150 / points.length));
    const radius = data.sizes.length ? radii(data) : points.length > 300 ? 3 : 4;
    const drawn = { pointRadius: radius, pointHoverRadius: data.sizes.length ? radius : 6, hitRadius: 4, pointBorderWidth: 0 };
    return { ...common, ...drawn, data: points, backgroundColor: fade(look.colour, alpha), pointHoverBackgroundColor: look.colour, clip: 8 };
  }

  // bars of categories with long names are horizontal
  function isSideways(data) {
    const words = data.x.filter((x) => typeof x === "string");
    return data.kind === "bars" && data.series.some((one) => one.low.length) && words.join("").length > 60;
  }

  function squareBounds(data, share = 0.06) {
    const all = [...data.x, ...data.series.flatMap((one) => one.y)].filter(Number.isFinite);
    const [low, high] = [Math.min(0, ...all), Math.max(1, ...all)];
    const room = share * (high - low); // for the circles at the ends
    return { min: low - room, max: high + room };
  }

  function bounds(data) {
    const all = data.series.flatMap((one) => [...one.y, ...one.low, ...one.high]).filter(Number.isFinite);
    const [lowest, highest] = [Math.min(...all), Math.max(...all)];
    if (data.hasDiagonal) return squareBounds(data);
    if (data.isJittered) return squareBounds({ ...data, x: [] }, 1.3 * JITTER);
    if (data.kind === "points") return lowest === highest ? { suggestedMin: Math.min(0, lowest), suggestedMax: Math.max(1, highest) } : {};
    return { suggestedMin: Math.min(0, lowest), suggestedMax: data.yMax ?? Math.max(0, highest), max: data.yMax ?? undefined };
  }

  function scales(data, colours) {
    const axis = (text) => ({
      title: { display: true, text, color: colours.text, font: { size: 11 } },
      border: { color: colours.grid },
      grid: { color: colours.grid, drawTicks: false },
      ticks: { color: colours.text, padding: 6, maxRotation: 0, font: { size: 11 } },
    });
    const places = axis(data.xLabel);
    const values = { ...axis(data.yLabel), ...bounds(data) };
    values.ticks.maxTicksLimit = 6;
    if (data.hasDiagonal || data.isJittered) places.ticks.includeBounds = values.ticks.includeBounds = false;
    if (data.series.every(isCount)) values.ticks.precision = 0;
    if (data.kind === "bars") {
      places.ticks.autoSkip = !(isSideways(data) && data.x.length < 45);
      places.grid.display = false;
      places.ticks.autoSkipPadding = 12;
      const labels = shortNames(data.x.map((x) => (typeof x === "number" ? number(x) : x)));
      places.ticks.callback = (value) => labels[value];
      return isSideways(data) ? { x: values, y: places } : { x: places, y: values };
    }
    places.type = "linear";
    if (data.x.every((x) => Number.isInteger(x))) places.ticks.precision = 0;
    if (data.hasDiagonal) Object.assign(places, squareBounds(data));
    else if (new Set(data.x).size === 1) Object.assign(places, { min: data.x[0] - 1, max: data.x[0] + 1 });
    else if (data.kind === "lines") Object.assign(places, { min: Math.min(...data.x), max: Math.max(...data.x) });
    return { x: places, y: values };
  }

  function tooltip(data, colours) {
    const place = (items) => items[0]?.dataIndex ?? 0;
    return {
      backgroundColor: colours.tip,
      titleColor: colours.tipText,
      bodyColor: colours.tipText,
      footerColor: colours.tipText,
      footerFont: { weight: "normal", style: "italic" },
      padding: 9,
      cornerRadius: 5,
      displayColors: data.series.length > 1,
      usePointStyle: true,
      // rollouts with the same reward and length overlap: show only the first
      filter: (_, index) => data.kind !== "points" || index === 0,
      callbacks: {
        title: (items) => placeText(data, place(items)).slice(0, 120),
        label: (item) => `${data.series.length > 1 ? " " : ""}${item.dataset.label}: ${valueText(data.series[item.datasetIndex], item.dataIndex)}`,
        footer: (items) => (data.hrefs[place(items)] ? "Click or press Enter to open" : ""),
      },
    };
  }

  // --- intervals: a band along a line or many bars, a whisker on a bar or a single point ---------

  function knownRuns(data, series) {
    const runs = [];
    let open = null;
    data.x.forEach((_, place) => {
      const isKnown = Number.isFinite(series.low[place]) && Number.isFinite(series.high[place]);
      if (isKnown && !open) runs.push((open = []));
      if (isKnown) open.push(place);
      else open = null;
    });
    return runs;
  }

  function drawBand(context, spots) {
    context.beginPath();
    for (const { x, high } of spots) context.lineTo(x, high);
    for (const { x, low } of [...spots].reverse()) context.lineTo(x, low);
    context.closePath();
    context.fill();
  }

  function drawWhisker(context, { x, low, high }, isTurned) {
    const line = (ax, ay, bx, by) => {
      context.moveTo(...(isTurned ? [ay, ax] : [ax, ay]));
      context.lineTo(...(isTurned ? [by, bx] : [bx, by]));
    };
    context.beginPath();
    line(x, low, x, high);
    for (const y of [low, high]) line(x - 4, y, x + 4, y);
    context.stroke();
  }

  function drawSeries(chart, data, index) {
    const isTurned = isSideways(data);
    const scale = isTurned ? chart.scales.x : chart.scales.y;
    const elements = chart.getDatasetMeta(index).data;
    const series = data.series[index];
    const context = chart.ctx;
    for (const places of knownRuns(data, series)) {
      const spots = places.map((place) => ({
        x: isTurned ? elements[place].y : elements[place].x,
        low: scale.getPixelForValue(series.low[place]),
        high: scale.getPixelForValue(series.high[place]),
      }));
      const isBand = data.kind === "lines" || data.x.length > MANY;
      if (isBand && spots.length > 1) drawBand(context, spots);
      else for (const spot of spots) drawWhisker(context, spot, isTurned);
    }
  }

  function intervals(data, colours, drawn) {
    const isBars = data.kind === "bars";
    const draw = (chart) => {
      const context = chart.ctx;
      context.save();
      drawn.forEach((look, index) => {
        if (!chart.isDatasetVisible(index)) return;
        context.lineWidth = 1.5;
        context.strokeStyle = isBars ? fade(colours.strong, 0.75) : look.colour;
        context.fillStyle = isBars ? fade(colours.strong, 0.16) : fade(look.colour, 0.14);
        drawSeries(chart, data, index);
      });
      context.restore();
    };
    return { id: "intervals", [isBars ? "afterDatasetsDraw" : "beforeDatasetsDraw"]: draw };
  }

  function diagonal(data, colours) {
    const draw = ({ ctx, scales: { x, y } }) => {
      ctx.save();
      Object.assign(ctx, { strokeStyle: colours.text, lineWidth: 1 });
      ctx.setLineDash([4, 4]);
      ctx.beginPath();
      ctx.moveTo(x.getPixelForValue(x.min), y.getPixelForValue(x.min));
      ctx.lineTo(x.getPixelForValue(x.max), y.getPixelForValue(x.max));
      ctx.stroke();
      ctx.restore();
    };
    return { id: "diagonal", beforeDatasetsDraw: data.hasDiagonal ? draw : undefined };
  }

  function open(href, isNewTab) {
    if (!/^(\/(?!\/)|#)/.test(href ?? "")) return; // only addresses of this viewer and anchors of this report
    if (isNewTab) window.open(href, "_blank", "noopener");
    else location.assign(href);
  }

  function placeAt(chart, event) {
    const how = chart.options.interaction;
    return chart.getElementsAtEventForMode(event, how.mode, how, false)[0]?.index;
  }

  function pointerHandlers(data) {
    return {
      onClick: (event, _, chart) => open(data.hrefs[placeAt(chart, event)], event.native.ctrlKey || event.native.metaKey),
      onHover: (event, _, chart) => {
        chart.canvas.style.cursor = data.hrefs[placeAt(chart, event)] ? "pointer" : "";
      },
    };
  }

  // --- the options -------------------------------------------------------------------------------

  function emptyChartNote(data, colours) {
    const draw = ({ ctx, chartArea }) => {
      Object.assign(ctx, { fillStyle: colours.text, textAlign: "center" });
      ctx.fillText("no values", (chartArea.left + chartArea.right) / 2, (chartArea.top + chartArea.bottom) / 2);
    };
    return { id: "emptyChartNote", afterDraw: data.series.some((one) => one.y.some(Number.isFinite)) ? undefined : draw };
  }

  function interaction(data) {
    if (data.kind === "points") return { mode: "nearest", intersect: true, axis: "xy" };
    return { mode: "index", intersect: false, axis: isSideways(data) ? "y" : "x" };
  }

  function legend(data, colours, drawn) {
    const generateLabels = (chart) => data.series.map((one, datasetIndex) => ({
      text: one.name,
      datasetIndex,
      hidden: !chart.isDatasetVisible(datasetIndex),
      fontColor: colours.text,
      fillStyle: drawn[datasetIndex].colour,
      strokeStyle: drawn[datasetIndex].colour,
      lineDash: data.kind === "lines" ? drawn[datasetIndex].dash : [],
      lineWidth: 2,
      pointStyle: data.kind === "lines" ? "line" : "rect",
    }));
    const labels = { usePointStyle: true, pointStyleWidth: 28, boxHeight: 6, padding: 10, font: { size: 11 }, generateLabels };
    return { display: data.series.length > 1, position: "bottom", align: "start", labels };
  }

  function config(data, figure) {
    const colours = palette(figure);
    const drawn = seriesStyles(data, colours);
    const isBars = data.kind === "bars";
    return {
      type: { bars: "bar", lines: "line", points: "scatter" }[data.kind],
      data: { labels: isBars ? data.x : undefined, datasets: data.series.map((one, index) => dataset(data, one, drawn[index], colours)) },
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        indexAxis: isSideways(data) ? "y" : "x",
        font: { family: colours.font },
        interaction: interaction(data),
        layout: { padding: { top: 8, right: 10 } },
        plugins: { legend: legend(data, colours, drawn), tooltip: tooltip(data, colours) },
        scales: scales(data, colours),
        ...pointerHandlers(data),
      },
      plugins: [intervals(data, colours, drawn), diagonal(data, colours), emptyChartNote(data, colours)],
    };
  }

  return { config, isSideways, open, spokenText };
})();
