// The pictures of the explorer: curves over the thresholds, and each measure on its strip.
const explorerPictures = (() => {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  const TICKS = 5;
  const STRIP = 170; // width of the strip an interval is drawn on
  const MARGIN = 8; // room for a dot at either end of it
  const { number } = intervalNumbers;

  const short = (value) => {
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
    return String(Number(value.toPrecision(6)));
  };

  function drawn(parent, name, attributes, words) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (words !== undefined) element.textContent = words;
    parent.append(element);
    return element;
  }

  function ticks(parent, data, x) {
    for (let at = 0; at < TICKS; at += 1) {
      const row = Math.round((data.last * (TICKS - 1 - at)) / (TICKS - 1));
      const tick = document.createElement("span");
      const value = data.threshold[row];
      tick.textContent = Number.isFinite(value) ? String(Number(value.toPrecision(3))) : short(value);
      tick.style.left = `${x(row) / 10}%`;
      parent.append(tick);
    }
  }

  // The way of a value over the rows, as the `d` of a path; where it is undefined there is a gap.
  function pathOf(data, x, value) {
    let down = false;
    let path = "";
    for (let row = 0; row <= data.last; row += 1) {
      const height = value(row);
      if (Number.isNaN(height)) {
        down = false;
        continue;
      }
      path += `${down ? "L" : "M"}${x(row).toFixed(1)} ${(200 * (1 - height)).toFixed(1)}`;
      down = true;
    }
    return path;
  }

  function chart(parent, data, x) {
    const svg = drawn(parent, "svg", { viewBox: "0 0 1000 200", preserveAspectRatio: "none" });
    for (const height of [0, 50, 100, 150, 200]) {
      drawn(svg, "line", { class: "grid", x1: 0, x2: 1000, y1: height, y2: height });
    }
    const band = drawn(svg, "rect", { class: "band soft", y: 0, height: 200 });
    const recallAt = (row) => data.tp[row] / data.positives;
    const precisionAt = (row) => data.tp[row] / (data.tp[row] + data.fp[row]);
    const f1At = (row) => (2 * data.tp[row]) / (data.positives + data.tp[row] + data.fp[row]);
    [precisionAt, recallAt, f1At].forEach((value, at) => {
      const ink = ["first", "second", "third"][at];
      drawn(svg, "path", { class: `line ${ink}`, d: pathOf(data, x, value) });
    });
    const costs = drawn(svg, "path", { class: "line fourth dashed" });
    const here = drawn(svg, "line", { class: "here", y1: 0, y2: 200 });
    for (const [words, top] of [["1", "0%"], ["0", "100%"]]) {
      const level = document.createElement("span");
      level.className = "level";
      level.textContent = words;
      level.style.top = top;
      parent.append(level);
    }
    const letters = {};
    Object.keys(data.marks).forEach((letter, at) => {
      const tag = document.createElement("b");
      tag.textContent = letter;
      tag.style.top = `${at * 1.4}rem`;
      parent.append(tag);
      letters[letter] = tag;
    });
    let scale = "";
    let priced = null;

    function update({ row, upper, lower, marks, values }) {
      here.setAttribute("x1", x(row));
      here.setAttribute("x2", x(row));
      band.setAttribute("x", x(lower));
      band.setAttribute("width", x(upper) - x(lower));
      for (const [letter, marked] of Object.entries(marks)) {
        letters[letter].style.left = `${x(marked) / 10}%`;
      }
      if (values === priced) return;
      priced = values;
      const low = Math.min(0, ...values);
      const high = Math.max(...values);
      scale = `up to ${number(high)}${low < 0 ? `, from ${number(low)}` : ""}`;
      const height = (at) => (high > low ? (values[at] - low) / (high - low) : 0);
      costs.setAttribute("d", pathOf(data, x, height));
    }

    return { update, costScale: () => scale };
  }

  // A dot on its line, on the range of the measure; 1 is in the middle of a range without end.
  function strip(parent, found, measure) {
    parent.replaceChildren();
    if (!found.defined) {
      const reason = document.createElement("small");
      reason.textContent = `undefined: ${measure.undefined}`;
      parent.append(reason);
      return;
    }
    const [low, high] = found.range;
    const endless = !Number.isFinite(high);
    const where = (value) => {
      const along = endless ? value / (1 + value) : (value - low) / (high - low || 1);
      return MARGIN + (STRIP - 2 * MARGIN) * (value === Infinity ? 1 : along);
    };
    const svg = drawn(parent, "svg", { viewBox: `0 0 ${STRIP} 34`, "aria-hidden": "true" });
    const middle = endless ? 1 : (low + high) / 2;
    drawn(svg, "line", { class: "rail", x1: MARGIN, x2: STRIP - MARGIN, y1: 12, y2: 12 });
    for (const value of [low, middle, high]) {
      drawn(svg, "line", { class: "grid", x1: where(value), x2: where(value), y1: 2, y2: 22 });
      const words = Number.isFinite(value) ? String(Number(value.toPrecision(3))) : "∞";
      drawn(svg, "text", { class: "tick", x: where(value), y: 33 }, words);
    }
    const [from, to] = (found.interval || [found.value, found.value]).map(where);
    drawn(svg, "line", { class: "bar", x1: from, x2: to, y1: 12, y2: 12 });
    for (const end of [from, to]) drawn(svg, "line", { class: "cap", x1: end, x2: end, y1: 8, y2: 16 });
    drawn(svg, "circle", { class: "dot", cx: where(found.value), cy: 12, r: 5 });
  }

  return { chart, short, strip, ticks };
})();
