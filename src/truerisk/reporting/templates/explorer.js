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
