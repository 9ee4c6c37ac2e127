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

// What the explorers of a page are set to, in its address: #t=0.5&w=0.1&tp=0&fp=1&fn=5&tn=0, with
// "2." before the keys of a second one; s=3 is the third slice.  What has no "=" is the name of a place on the page.
const explorerAddress = (() => {
  "use strict";

  const SLICE = "s";
  const KEYS = ["t", "w", "tp", "fp", "fn", "tn", SLICE];
  const MOST_COST = 1e300; // as in the library: sums of more could not be told
  const QUIET = 400; // milliseconds; browsers refuse an address that changes with every move
  let kept = new URLSearchParams();
  let waiting = null;
  const given = () => new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");

  // Which numbers a key may have: a band is not negative, and costs have an end.
  function able(key, value) {
    if (key === "t") return Number.isFinite(value);
    if (key === SLICE) return Number.isInteger(value) && value >= 0;
    return key === "w" ? Number.isFinite(value) && value >= 0 : Math.abs(value) <= MOST_COST;
  }

  function valueOf(key, text) {
    if (key === "t" && /^-?inf(inity)?$/i.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
    // In an address "+" stands for a space: 1e+30 is what was meant by "1e 30".
    const value = text.trim() === "" ? NaN : Number(text.replaceAll(" ", "+"));
    return able(key, value) ? value : NaN;
  }

  // What one explorer is told, and what in it means nothing.  The name of a place tells nothing; an
  // empty address tells that nothing is set.
  function read(prefix) {
    const told = given();
    const tells = [...told].length > 0 || location.hash === "";
    if (tells) kept = told;
    const found = {};
    const strange = [];
    for (const [name, text] of told) {
      const mine = prefix ? name.startsWith(prefix) : !/^\d+\./.test(name);
      if (!mine) continue;
      const key = name.slice(prefix.length);
      const value = KEYS.includes(key) ? valueOf(key, text) : NaN;
      if (Number.isNaN(value)) strange.push(`${name}=${text}`.slice(0, 40));
      else found[key] = value;
    }
    return { found, strange, tells };
  }

  function keep(prefix, state) {
    for (const key of KEYS) {
      const value = state[key];
      if (key === SLICE && !value) {
        kept.delete(prefix + key); // all examples
        continue;
      }
      const text = Number.isFinite(value) ? String(value) : value > 0 ? "inf" : "-inf";
      kept.set(prefix + key, text);
    }
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      try {
        history.replaceState(null, "", `#${kept}`);
      } catch {
        // A frame in a notebook has no address of its own.
      }
    }, QUIET);
  }

  return { KEYS, able, keep, read };
})();

// The threshold explorer: from thresholds, counts and controls to what the page shows.
//
// State      t: threshold, w: half-width of the rejection band, what the four outcomes cost, and
//            s: the slice that is shown, 0 for all examples.
// Row        of a number: the lowest kept threshold that is at least as high; counts are exact there.
// Rejected   scores nearer to t than w, as in measures/rejection.py.
(() => {
  "use strict";

  const { OUTCOMES, estimate, fixed, written } = intervalNumbers;
  const { chart, short, strip, ticks } = explorerPictures;
  const KEYS = explorerAddress.KEYS.filter((key) => key !== "s"); // of the fields of numbers
  const QUIET = 400; // milliseconds without a change before it is spoken
  const HEATS = 9;
  const MOST_STRANGE = 5; // pieces of an address that a hint quotes

  const many = (n) => (Number.isInteger(n) ? n : Number(n.toPrecision(6))).toLocaleString("en-US");
  const share = (part, whole) => (whole > 0 ? `${fixed((100 * part) / whole, 1)} %` : "–");

  // ---- Data: counts at rows, descending thresholds --------------------------------------------------

  function prepared(text) {
    const data = JSON.parse(text);
    data.threshold = data.threshold.map(Number);
    data.start = Number(data.start);
    for (const measure of data.measures) {
      measure.low = Number(measure.low);
      measure.high = Number(measure.high);
      measure.beta = measure.beta === null ? null : Number(measure.beta);
    }
    data.n = data.positives + data.negatives;
    data.last = data.threshold.length - 1;
    return data;
  }

  // The counts of one slice at the same thresholds; marks and thresholds are those of all examples.
  function viewOf(data, slice) {
    const part = data.slices[slice - 1];
    return part === undefined ? data : { ...data, ...part, n: part.positives + part.negatives };
  }

  // The last row whose threshold is high enough, or the first; they descend.
  function lastRow(data, isHigh) {
    let low = 0;
    let high = data.last;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (isHigh(data.threshold[middle])) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // The lowest kept threshold that is at least `value`; above every score nothing is called positive.
  const rowOf = (data, value) => lastRow(data, (threshold) => threshold >= value);

  // The rows between which nothing is called: [upper, lower], the same where no score is that close.
  function bandRows(data, { t, w }) {
    if (!(w > 0 && Number.isFinite(t))) return [rowOf(data, t), rowOf(data, t)];
    const upper = lastRow(data, (threshold) => threshold - t >= w);
    return [upper, lastRow(data, (threshold) => t - threshold < w)];
  }

  function countsBetween(data, upper, lower) {
    const counts = {
      tp: data.tp[upper],
      fp: data.fp[upper],
      fn: data.positives - data.tp[lower],
      tn: data.negatives - data.fp[lower],
    };
    counts.rejectedPositive = data.tp[lower] - data.tp[upper];
    counts.rejectedNegative = data.fp[lower] - data.fp[upper];
    counts.rejected = counts.rejectedPositive + counts.rejectedNegative;
    counts.n = data.n - counts.rejected;
    return counts;
  }

  function meanCost(data, row, costs) {
    const counts = countsBetween(data, row, row);
    return OUTCOMES.reduce((sum, name) => sum + costs[name] * counts[name], 0) / data.n;
  }

  // ---- One explorer -----------------------------------------------------------------------------------

  function explorer(panel, at) {
    const data = prepared(panel.querySelector("script").textContent);
    const prefix = at === 0 ? "" : `${at + 1}.`;
    const control = (name) => panel.querySelector(`[data-control="${name}"]`);
    const place = (name) => panel.querySelector(`[data-shown="${name}"]`);
    const show = (name, words) => {
      const element = place(name);
      if (element) element.textContent = words;
    };
    const begin = () => ({ t: data.start, w: 0, ...data.costs, s: 0 });
    let state = begin();
    let waiting = null;

    const x = (row) => (1000 * (data.last - row)) / Math.max(data.last, 1);
    let view = data;
    let picture = chart(panel.querySelector(".plot"), view, x);
    ticks(panel.querySelector(".explorer-ticks div"), data, x);

    // Costs seldom change while the threshold moves: their curve is computed once for all moves.
    let priced = { costs: null };

    function byCosts() {
      const known = priced.costs && priced.view === view;
      if (known && OUTCOMES.every((name) => priced.costs[name] === state[name])) return priced;
      const costsOf = (counts) => data.threshold.map((_, row) => meanCost(counts, row, state));
      const values = costsOf(view);
      const all = view === data ? values : costsOf(data);
      // Of thresholds that cost the same the highest is taken.
      const cheapest = all.reduce((best, value, row) => (value < all[best] ? row : best), 0);
      priced = { view, costs: state, values, marks: { ...data.marks, C: cheapest } };
      return priced;
    }

    function update() {
      showSlice();
      const row = rowOf(data, state.t);
      const [upper, lower] = bandRows(data, state);
      const counts = countsBetween(view, upper, lower);
      const { marks, values } = byCosts();
      showControls(row);
      showMarks(marks, row);
      showMatrix(counts);
      showMeasures(counts);
      showWords(counts, row, upper, lower);
      picture.update({ row, upper, lower, marks, values });
      show("cost-scale", picture.costScale());
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        show("spoken", place("words").textContent);
      }, QUIET);
    }

    function showSlice() {
      const chosen = viewOf(data, state.s);
      const field = control("s");
      if (field) field.value = String(chosen === data ? 0 : state.s);
      if (view.tp === chosen.tp) return;
      view = chosen;
      panel.querySelector(".plot").replaceChildren();
      picture = chart(panel.querySelector(".plot"), view, x);
    }

    function showControls(row) {
      const slider = control("slider");
      slider.value = data.last - row;
      const called = `${many(view.tp[row] + view.fp[row])} of ${many(view.n)} called ${data.positive}`;
      slider.setAttribute("aria-valuetext", `${short(data.threshold[row])}: ${called}`);
      control("band").value = Math.round(state.w / data.band_step);
      control("band").setAttribute("aria-valuetext", short(state.w));
      for (const name of KEYS) {
        const field = control(name);
        // What is being typed is left alone.
        if (field !== document.activeElement || field.valueAsNumber !== state[name]) {
          field.value = Number.isFinite(state[name]) ? String(state[name]) : "";
        }
      }
      control("t").placeholder = Number.isFinite(state.t) ? "" : short(state.t);
    }

    function showMarks(marks, row) {
      for (const [letter, marked] of Object.entries(marks)) {
        show(`mark-${letter}`, short(data.threshold[marked]));
        const button = panel.querySelector(`[data-mark="${letter}"]`);
        button.setAttribute("aria-pressed", String(marked === row));
      }
    }

    function showMatrix(counts) {
      const cell = (name) => panel.querySelector(`[data-cell="${name}"]`);
      const totals = { p: view.positives, n: view.negatives };
      const truth = { tp: "p", fn: "p", fp: "n", tn: "n" };
      const fill = (element, part, whole, kind) => {
        element.textContent = many(part);
        const small = document.createElement("small");
        small.textContent = share(part, whole);
        element.append(small);
        const heat = whole > 0 ? Math.ceil((HEATS * part) / whole) : 0;
        element.className = `${kind} h${heat}`;
      };
      for (const name of OUTCOMES) {
        const kind = name.startsWith("t") ? "right" : "wrong";
        fill(cell(name), counts[name], totals[truth[name]], kind);
      }
      fill(cell("rejected-1"), counts.rejectedPositive, view.positives, "sum");
      fill(cell("rejected-0"), counts.rejectedNegative, view.negatives, "sum");
      cell("true-1").textContent = many(view.positives);
      cell("true-0").textContent = many(view.negatives);
      cell("called-1").textContent = many(counts.tp + counts.fp);
      cell("called-0").textContent = many(counts.fn + counts.tn);
      cell("rejected").textContent = many(counts.rejected);
      cell("all").textContent = many(view.n);
      for (const element of panel.querySelectorAll("[data-rejected]")) {
        element.hidden = !(state.w > 0);
      }
    }

    function showMeasures(counts) {
      const options = {
        costs: state,
        costOrder: data.cost_order,
        level: data.level,
        z: data.normal_quantile,
        hasIntervals: data.has_intervals,
        zeroDivision: data.zero_division,
      };
      for (const measure of data.measures) {
        const line = panel.querySelector(`[data-measure="${measure.name}"]`);
        if (measure.name === "rejection_rate") line.hidden = !(state.w > 0);
        const found = estimate(measure, counts, options);
        const words = written(found);
        const value = line.querySelector(".num");
        value.textContent = words.value;
        value.className = `num ${found.defined ? "value" : "undefined"}`;
        line.querySelector(".interval").textContent = words.interval;
        strip(line.querySelector(".where"), found, measure);
      }
    }

    function showWords(counts, row, upper, lower) {
      const named = data.positive;
      const called = counts.tp + counts.fp;
      const examples = data.weighted ? "" : " examples";
      const parts = [
        upper === 0 && called === 0
          ? `Nothing is called ${named}.`
          : `Called ${named} from ${short(data.threshold[upper])} on: ${many(called)} of ${many(view.n)}${examples}.`,
        `Of ${many(view.positives)} that are ${named}, ${many(counts.tp)} are found; of ${many(view.negatives)} others, ${many(counts.fp)} are called so too.`,
      ];
      if (view !== data) {
        const words = control("s").selectedOptions[0].textContent;
        parts.unshift(`Only ${words}; the marked thresholds are those of all examples.`);
      }
      if (state.w > 0) {
        parts.push(`${many(counts.rejected)}${examples} (${share(counts.rejected, view.n)}) are rejected.`);
      }
      const cost = panel.querySelector('[data-measure="cost"] .num').textContent;
      parts.push(`Cost of an example: ${cost}.`);
      if (data.weighted) parts.push("These are sums of weights, not numbers of examples.");
      show("words", parts.join(" "));
      const from = short(data.threshold[lower]);
      const below = Number.isFinite(data.threshold[upper])
        ? `below ${short(data.threshold[upper])}`
        : "up to the highest";
      show("band", upper < lower ? `Rejected: scores from ${from}, ${below}.` : "Nothing is rejected.");
      // All digits: a threshold that is rounded up would leave out the very score it stands for.
      const exactly = String(data.threshold[row]).replace("Infinity", "inf");
      show("command", `truerisk score FILE --threshold ${exactly}`);
    }

    // ---- The address ----------------------------------------------------------------------------------

    function set(changes, { keep = true } = {}) {
      state = { ...state, ...changes };
      if (keep) {
        show("hint", "");
        explorerAddress.keep(prefix, state);
      }
      update();
    }

    function readAddress() {
      const { found, strange, tells } = explorerAddress.read(prefix);
      const some = strange.length > MOST_STRANGE ? [...strange.slice(0, MOST_STRANGE), "…"] : strange;
      show("hint", strange.length ? `Left out of the address, for it means nothing here: ${some.join(", ")}.` : "");
      if (tells) set({ ...begin(), ...found }, { keep: false });
    }

    function listen() {
      control("slider").addEventListener("input", (event) => {
        set({ t: data.threshold[data.last - Number(event.target.value)] });
      });
      control("band").addEventListener("input", (event) => {
        set({ w: Number((Number(event.target.value) * data.band_step).toPrecision(12)) });
      });
      for (const name of KEYS) {
        control(name).addEventListener("input", (event) => {
          const value = event.target.valueAsNumber;
          const able = explorerAddress.able(name, value);
          event.target.setAttribute("aria-invalid", String(!able));
          if (able) set({ [name]: value });
        });
        control(name).addEventListener("blur", (event) => {
          event.target.removeAttribute("aria-invalid");
          update();
        });
      }
      control("t").addEventListener("keydown", (event) => {
        const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        const row = Math.min(Math.max(rowOf(data, state.t) + step, 0), data.last);
        set({ t: data.threshold[row] });
      });
      for (const button of panel.querySelectorAll("[data-mark]")) {
        button.addEventListener("click", () => {
          set({ t: data.threshold[byCosts().marks[button.dataset.mark]] });
        });
      }
      control("s")?.addEventListener("change", (event) => set({ s: Number(event.target.value) }));
      for (const link of linksTo(panel)) {
        link.addEventListener("click", (event) => {
          event.preventDefault(); // the threshold stays as it is
          set({ s: Number(link.dataset.slice) });
          panel.scrollIntoView();
          control("s").focus({ preventScroll: true });
        });
      }
      control("reset").addEventListener("click", () => set(begin()));
      window.addEventListener("hashchange", readAddress);
    }

    control("band").max = Math.max(1, Math.round(spanOf(data) / data.band_step));
    panel.querySelector(".needs-script").remove();
    panel.querySelector(".explorer-body").hidden = false;
    listen();
    update();
    readAddress();
  }

  // The names in a table of slices, whose explorer is the next one on the page.
  function linksTo(panel) {
    const follows = (link, one) =>
      link.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING;
    const panels = [...document.querySelectorAll(".explorer-panel")];
    return [...document.querySelectorAll("a[data-slice]")].filter(
      (link) => panels.find((one) => follows(link, one)) === panel,
    );
  }

  function spanOf(data) {
    const known = data.threshold.filter(Number.isFinite);
    return known.length > 1 ? known[0] - known[known.length - 1] : 1;
  }

  document.querySelectorAll(".explorer-panel").forEach(explorer);
})();
