"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const charts = [];
  const axis = (label, more) => ({
    label,
    stroke: () => ink("muted"),
    grid: { stroke: () => ink("grid"), width: 1 },
    ticks: { stroke: () => ink("grid"), width: 1 },
    font: "13px system-ui, sans-serif",
    labelFont: "13px system-ui, sans-serif",
    ...more,
  });

  // The marks are those of the other reports: new, late, retransmitted, spuriously retransmitted.
  const MARKS = {
    new: (ctx, x, y, r) => { ctx.fillStyle = ink("accent"); return () => { ctx.fillRect(x() - 1.3 * r, y() - 1.3 * r, 2.6 * r, 2.6 * r); }; },
    late: (ctx, x, y, r) => { ctx.strokeStyle = ink("late"); ctx.lineWidth = 1.6 * r; return () => { ctx.beginPath(); ctx.arc(x(), y(), 4 * r, 0, 7); ctx.stroke(); }; },
    resent: (ctx, x, y, r) => {
      ctx.fillStyle = ink("text");
      return () => { ctx.beginPath(); ctx.moveTo(x(), y() - 4.5 * r); ctx.lineTo(x() + 4.5 * r, y() + 3.5 * r); ctx.lineTo(x() - 4.5 * r, y() + 3.5 * r); ctx.fill(); };
    },
    spurious: (ctx, x, y, r) => {
      ctx.lineCap = "round";
      const cross = (width, colour) => {
        ctx.lineWidth = width * r; ctx.strokeStyle = colour; ctx.beginPath();
        ctx.moveTo(x() - 4 * r, y() - 4 * r); ctx.lineTo(x() + 4 * r, y() + 4 * r);
        ctx.moveTo(x() + 4 * r, y() - 4 * r); ctx.lineTo(x() - 4 * r, y() + 4 * r); ctx.stroke();
      };
      const [paper, alert] = [ink("paper"), ink("alert")];
      return () => { cross(4.5, paper); cross(2, alert); };
    },
  };

  const NAMES = {
    new: "new data at", late: "late at", resent: "retransmission at", spurious: "spurious retransmission at", acknowledged: "acknowledged up to",
  };

  const drawSequence = (kinds) => (u) => {
    const { ctx, bbox } = u, r = devicePixelRatio;
    const [x0, x1, y0, y1] = [u.scales.x.min, u.scales.x.max, u.scales.y.min, u.scales.y.max];
    const place = (t, s) => [u.valToPos(t, "x", true), u.valToPos(s, "y", true)];
    ctx.save();
    ctx.beginPath(); ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height); ctx.clip();
    const [times, acked] = kinds.acknowledged;
    ctx.strokeStyle = ink("muted"); ctx.lineWidth = r; ctx.beginPath();
    let last = null;
    for (let i = 0; i < times.length; i++) {
      const [x, y] = place(times[i], acked[i]);
      if (last === null) ctx.moveTo(x, y); else { ctx.lineTo(x, last); ctx.lineTo(x, y); }
      last = y;
    }
    ctx.stroke();
    for (const kind of ["new", "late", "resent", "spurious"]) {
      let x, y;
      const mark = MARKS[kind](ctx, () => x, () => y, r);
      const [at, what] = kinds[kind];
      for (let i = 0; i < at.length; i++) {
        if (at[i] < x0 || at[i] > x1 || what[i] < y0 || what[i] > y1) continue;
        [x, y] = place(at[i], what[i]);
        mark();
      }
    }
    ctx.restore();
  };

  const span = (lists) => {
    let [low, high] = [Infinity, -Infinity];
    for (const list of lists) for (const v of list) { if (v < low) low = v; if (v > high) high = v; }
    return low < high ? [low, high] : Number.isFinite(low) ? [low - 0.5, low + 0.5] : [0, 1];
  };

  // The charts of a transfer share the time axis.
  const setX = (chart, min, max) => {
    for (const other of charts) if (other.transfer === chart.transfer) {
      other.u.setScale("x", { min, max });
      const y = other.follow?.(min, max);
      if (y) other.u.setScale("y", { min: y[0], max: y[1] });
    }
  };
  const zoomX = (chart, factor, at) => {
    const { min, max } = chart.u.scales.x;
    const middle = at ?? (min + max) / 2;
    setX(chart, middle - (middle - min) * factor, middle + (max - middle) * factor);
  };
  const moveX = (chart, share) => {
    const { min, max } = chart.u.scales.x, by = (max - min) * share;
    setX(chart, min + by, max + by);
  };
  const all = (chart) => {
    for (const other of charts) if (other.transfer === chart.transfer) {
      other.u.setScale("x", { min: other.x[0], max: other.x[1] });
      other.u.setScale("y", { min: other.y[0], max: other.y[1] });
    }
  };

  const round = (v) => Number(v.toPrecision(6)).toLocaleString("en");

  // `stops` has the values that the keys N and P step through: time, height, text. `read` returns the text
  // at a position.
  const make = (element, transfer, options, columns, x, y, stops, read) => {
    const chart = { transfer, x, y };
    const out = document.createElement("output");
    out.className = "readout";
    element.after(out);
    out.textContent = "\u00a0";
    const size = () => ({ width: element.clientWidth, height: element.clientHeight });
    const press = (u, target, zoom) => (event) => {
      if (!event.shiftKey) return zoom(event);
      const from = [event.clientX, event.clientY], { x: sx, y: sy } = u.scales;
      const [x0, x1, y0, y1] = [sx.min, sx.max, sy.min, sy.max];
      const move = (e) => {
        const by = (x1 - x0) * (from[0] - e.clientX) / u.over.clientWidth;
        const up = (y1 - y0) * (e.clientY - from[1]) / u.over.clientHeight;
        setX(chart, x0 + by, x1 + by);
        u.setScale("y", { min: y0 + up, max: y1 + up });
      };
      const end = () => { removeEventListener("mousemove", move); removeEventListener("mouseup", end); };
      addEventListener("mousemove", move); addEventListener("mouseup", end);
    };
    let echoed = false, stepping = false, stop = -1;
    const step = (by) => {
      const { min, max } = u.scales.x;
      if (stops.length === 0) return;
      const first = stops.findIndex(([t]) => t >= min);
      stop = stop < 0 ? Math.max(first, 0) : Math.min(Math.max(stop + by, 0), stops.length - 1);
      const [t, v, text] = stops[stop], half = (max - min) / 2;
      if (t < min || t > max) setX(chart, t - half, t + half);
      stepping = true;
      u.setCursor({ left: u.valToPos(t, "x"), top: u.valToPos(v, "y") });
      stepping = false;
      out.textContent = text;
    };
    const u = chart.u = new uPlot({
      ...size(),
      legend: { show: false },
      padding: [34, 12, 0, 0],
      cursor: { drag: { x: true, y: true, uni: 30 }, points: { show: false }, bind: { mousedown: press, dblclick: () => () => all(chart) } },
      ...options,
      scales: { x: { time: false, range: (u, low, high) => [low ?? x[0], high ?? x[1]] }, y: { range: (u, low, high) => [low ?? y[0], high ?? y[1]] } },
      hooks: { ...options.hooks, setCursor: [(u) => {
        const { left, top, idx } = u.cursor;
        if (left >= 0 && !stepping) out.textContent = read(u, left, top, idx) || "\u00a0";
      }], setScale: [(u, key) => {
        if (key !== "x" || echoed) return;
        echoed = true;
        const { min, max } = u.scales.x;
        for (const other of charts) if (other !== chart && other.transfer === transfer && (other.u.scales.x.min !== min || other.u.scales.x.max !== max)) other.u.setScale("x", { min, max });
        echoed = false;
      }] },
    }, columns, element);
    charts.push(chart);
    all(chart);
    u.over.addEventListener("wheel", (event) => {
      event.preventDefault();
      const at = u.posToVal(event.clientX - u.over.getBoundingClientRect().left, "x");
      zoomX(chart, event.deltaY < 0 ? 0.75 : 1 / 0.75, at);
    }, { passive: false });
    const tools = element.appendChild(document.createElement("div"));
    tools.className = "tools";
    for (const [sign, what, act] of [
      ["+", "Zoom in", () => zoomX(chart, 0.5)], ["−", "Zoom out", () => zoomX(chart, 2)],
      ["←", "Earlier", () => moveX(chart, -0.5)], ["→", "Later", () => moveX(chart, 0.5)],
      ["All", "See all", () => all(chart)],
    ]) {
      const button = tools.appendChild(document.createElement("button"));
      button.type = "button"; button.textContent = sign; button.title = what;
      button.setAttribute("aria-label", what);
      button.addEventListener("click", act);
    }
    element.tabIndex = 0;
    element.addEventListener("keydown", (event) => {
      const act = { "+": () => zoomX(chart, 0.5), "-": () => zoomX(chart, 2), ArrowLeft: () => moveX(chart, -0.25), ArrowRight: () => moveX(chart, 0.25), 0: () => all(chart), n: () => step(1), p: () => step(-1) }[event.key];
      if (act) { event.preventDefault(); act(); }
    });
    new ResizeObserver(() => u.setSize(size())).observe(element);
    return chart;
  };

  for (const element of document.querySelectorAll("[data-sequence]")) {
    const transfer = Number(element.dataset.sequence), kinds = data[transfer].sequence;
    const lists = Object.values(kinds);
    const x = span(lists.map((list) => list[0])), y = span(lists.map((list) => list[1]));
    const unit = y[1] > 2e6 ? [1e6, "MB"] : y[1] > 2e3 ? [1e3, "kB"] : [1, "B"];
    const marks = Object.entries(kinds).flatMap(([kind, [at, what]]) =>
      at.map((t, i) => [t, what[i], `${round(t)} s: ${NAMES[kind]} ${round(what[i] / unit[0])} ${unit[1]}`, kind]));
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", "Octets of the stream over time, with late and retransmitted segments marked");
    const chart = make(element, transfer, {
      axes: [axis("time (s)"), axis(`octets of the stream (${unit[1]})`, { size: 64, values: (u, at) => at.map((v) => String(Number((v / unit[0]).toPrecision(8)))) })],
      series: [{}, { show: true, paths: () => null, points: { show: false } }],
      hooks: { draw: [drawSequence(kinds)] },
    }, [x, y], x, y, marks.filter(([, , , kind]) => kind !== "new" && kind !== "acknowledged").sort((a, b) => a[0] - b[0]), (u, left, top) => {
      let best = 24 ** 2, text = "";
      const { x: sx, y: sy } = u.scales, wide = u.over.clientWidth / (sx.max - sx.min), high = u.over.clientHeight / (sy.max - sy.min);
      for (const [t, v, what] of marks) {
        const far = ((t - sx.min) * wide - left) ** 2 + ((sy.max - v) * high - top) ** 2;
        if (far <= best) [best, text] = [far, what];
      }
      return text;
    });
    // Fits the vertical axis to the data in the visible time.
    chart.follow = (min, max) => {
      const within = lists.map(([at, what]) => what.filter((_, i) => min <= at[i] && at[i] <= max));
      return within.some((list) => list.length > 0) ? span(within) : null;
    };
  }
  for (const element of document.querySelectorAll("[data-rtt]")) {
    const transfer = Number(element.dataset.rtt), at = data[transfer].rtt[0];
    if (at.length === 0) continue;
    // The unit is milliseconds up to ten seconds, then seconds.
    const [factor, unit] = span([data[transfer].rtt[3]])[1] >= 1e4 ? [1e-3, "s"] : [1, "ms"];
    const [low, mean, high] = data[transfer].rtt.slice(1).map((list) => list.map((ms) => ms * factor));
    const text = (i) => `${round(at[i])} s: mean ${round(mean[i])} ${unit}, from ${round(low[i])} to ${round(high[i])}`;
    const x = charts.find((chart) => chart.transfer === transfer)?.x ?? span([at]);
    const y = [0, span([high])[1] * 1.05];
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", "Round trips over time: the mean, and the range from minimum to maximum");
    const hidden = { stroke: "transparent", points: { show: false } };
    make(element, transfer, {
      axes: [axis("time (s)"), axis(`round trip (${unit})`, { size: 56 })],
      series: [{}, { ...hidden }, { stroke: () => ink("accent"), width: 1.5, points: { show: at.length < 60, size: 4 } }, { ...hidden }],
      bands: [{ series: [3, 1], fill: () => ink("accent") + "33" }],
    }, [at, low, mean, high], x, y, at.map((t, i) => [t, mean[i], text(i)]), (u, left, top, i) => i === null || i === undefined ? "" : text(i));
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach(({ u }) => u.redraw()));
})();
