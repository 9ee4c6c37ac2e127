// The numbers of the explorer: every measure of four counts with its interval, as the library gives
// them, and written as it writes them.
//
//   shares      Clopper and Pearson's interval        exact_intervals.js
//   recalls     Wilson's interval of their mean       intervals/class_averages.py
//   the rest    delta method on smoothed cells        intervals/choose.py, intervals/delta.py
//   formulas                                          measures/from_counts.py
//   words       decimals that the interval deserves   reporting/wording.py
const intervalNumbers = (() => {
  "use strict";

  const { clopperPearson, expit, scoreEnds, studentQuantile } = exactIntervals;

  // ---- Numbers that carry their slopes by tp, fp, fn and tn ---------------------------------------

  const constant = (value) => ({ value, slope: [0, 0, 0, 0] });
  const joined = (value, first, byFirst, second, bySecond) => ({
    value,
    slope: first.slope.map((slope, at) => byFirst * slope + bySecond * second.slope[at]),
  });
  const plus = (a, b) => joined(a.value + b.value, a, 1, b, 1);
  const minus = (a, b) => joined(a.value - b.value, a, 1, b, -1);
  const times = (a, b) => joined(a.value * b.value, a, b.value, b, a.value);
  const scaled = (factor, a) => joined(factor * a.value, a, factor, a, 0);
  const ratio = (a, b) => {
    if (b.value === 0) return constant(NaN);
    return joined(a.value / b.value, a, 1 / b.value, b, -a.value / (b.value * b.value));
  };
  const root = (a) => {
    const value = Math.sqrt(a.value);
    return joined(value, a, 0.5 / value, a, 0);
  };
  const ONE = constant(1);

  const recall = (c) => ratio(c.tp, plus(c.tp, c.fn));
  const specificity = (c) => ratio(c.tn, plus(c.tn, c.fp));
  const size = (c) => plus(plus(c.tp, c.fp), plus(c.fn, c.tn));

  function ratioOrInfinity(top, bottom) {
    return bottom.value === 0 && top.value > 0 ? constant(Infinity) : ratio(top, bottom);
  }

  // What truth and prediction have in common beyond n², and what chance alone would make of it.
  function agreement(c) {
    const truth = [plus(c.tp, c.fn), plus(c.tn, c.fp)];
    const called = [plus(c.tp, c.fp), plus(c.tn, c.fn)];
    const n = size(c);
    const byChance = plus(times(truth[0], called[0]), times(truth[1], called[1]));
    const beyond = minus(times(plus(c.tp, c.tn), n), byChance);
    const spread = (parts) =>
      minus(times(n, n), plus(times(parts[0], parts[0]), times(parts[1], parts[1])));
    return { n, byChance, beyond, spreadOfTruth: spread(truth), spreadOfCalls: spread(called) };
  }

  // ---- The measures: k of n (and what is made of the share), or a smooth function ------------------

  const plain = (share) => share;
  const SHARES = {
    accuracy: (c) => [c.tp + c.tn, c.n, plain],
    error_rate: (c) => [c.n - (c.tp + c.tn), c.n, plain],
    rejection_rate: (c) => [c.rejected, c.n + c.rejected, plain],
    precision: (c) => [c.tp, c.tp + c.fp, plain],
    recall: (c) => [c.tp, c.tp + c.fn, plain],
    specificity: (c) => [c.tn, c.tn + c.fp, plain],
    negative_predictive_value: (c) => [c.tn, c.tn + c.fn, plain],
    jaccard: (c) => [c.tp, c.tp + c.fp + c.fn, plain],
    f1: (c) => [c.tp, c.tp + c.fp + c.fn, (share) => (2 * share) / (1 + share)],
  };
  // F and E at these β are shares too.
  const SHARE_AT_BETA = new Map([[0, "precision"], [1, "f1"], [Infinity, "recall"]]);

  const SMOOTH = {
    balanced_accuracy: (c) => {
      const known = [recall(c), specificity(c)].filter((part) => !Number.isNaN(part.value));
      return ratio(known.reduce(plus, constant(0)), constant(known.length));
    },
    matthews_correlation: (c) => {
      const found = agreement(c);
      return ratio(found.beyond, root(times(found.spreadOfCalls, found.spreadOfTruth)));
    },
    cohen_kappa: (c) => {
      const found = agreement(c);
      return ratio(found.beyond, minus(times(found.n, found.n), found.byChance));
    },
    cost: (c, { costs, costOrder }) => {
      // In the order in which the library adds them, for the same last digit.
      const parts = costOrder.map((name) => scaled(costs[name], c[name]));
      return ratio(parts.reduce(plus, constant(0)), size(c));
    },
    gmean: (c) => root(times(recall(c), specificity(c))),
    youden: (c) => minus(plus(recall(c), specificity(c)), ONE),
    positive_likelihood_ratio: (c) => ratioOrInfinity(recall(c), minus(ONE, specificity(c))),
    negative_likelihood_ratio: (c) => ratioOrInfinity(minus(ONE, recall(c)), specificity(c)),
    f_beta: (c, { beta }) => {
      const hits = scaled(1 + beta ** 2, c.tp);
      return ratio(hits, plus(plus(hits, scaled(beta ** 2, c.fn)), c.fp));
    },
    e_beta: (c, options) => minus(ONE, SMOOTH.f_beta(c, options)),
  };
  const OUTCOMES = ["tp", "fp", "fn", "tn"];

  function withSlopes(counts) {
    const entries = OUTCOMES.map((name, at) => {
      const slope = [0, 0, 0, 0];
      slope[at] = 1;
      return [name, { value: counts[name], slope }];
    });
    return Object.fromEntries(entries);
  }

  // Half an example right and half an example wrong for each class that occurs.
  function smoothed(counts) {
    const half = (present) => (present > 0 ? 0.5 : 0);
    const positive = half(counts.tp + counts.fn);
    const negative = half(counts.fp + counts.tn);
    return {
      tp: counts.tp + positive,
      fp: counts.fp + negative,
      fn: counts.fn + positive,
      tn: counts.tn + negative,
    };
  }

  // value ± z · error on the scale on which the measure has no end; null where that degenerates.
  function deltaInterval(value, error, [low, high], z) {
    if (!Number.isFinite(value) || !Number.isFinite(error) || !(error > 0)) return null;
    if (!(low < value && value < high)) return null;
    let ends;
    if (Number.isFinite(low) && Number.isFinite(high)) {
      const below = value - low;
      const above = high - value;
      const spread = (z * error * (high - low)) / (below * above);
      const centre = Math.log(below) - Math.log(above);
      ends = [-spread, spread].map((step) => low + (high - low) * expit(centre + step));
    } else if (Number.isFinite(low)) {
      const factor = Math.exp(Math.min((z * error) / (value - low), 700));
      ends = [low + (value - low) / factor, low + (value - low) * factor];
    } else {
      ends = [value - z * error, value + z * error];
    }
    return [Math.min(ends[0], value), Math.max(ends[1], value)];
  }

  function smoothedDelta(formula, counts, value, range, options) {
    const added = smoothed(counts);
    const found = formula(withSlopes(added), options);
    const centre = Number.isFinite(value) ? value + (found.value - value) : found.value;
    let variance = 0;
    OUTCOMES.forEach((name, at) => {
      // An empty cell adds nothing, whatever its slope.
      if (added[name] > 0) variance += added[name] * found.slope[at] ** 2;
    });
    const interval = deltaInterval(centre, Math.sqrt(variance), range, options.z) || range;
    return [Math.min(interval[0], value), Math.max(interval[1], value)];
  }

  // The mean of recall and specificity: shares with a prior of three units at their pooled mean.
  const PRIOR_UNITS = 3;
  const INSIDE = 1e-6;
  function meanOfRecalls(counts, level, z) {
    const classes = [
      [counts.tp, counts.tp + counts.fn],
      [counts.tn, counts.tn + counts.fp],
    ].filter(([, size]) => size > 0);
    const mean = (values) => values.reduce((sum, one) => sum + one, 0) / classes.length;
    const value = mean(classes.map(([right, size]) => right / size));
    const centre = (value * classes.length + 0.5) / (classes.length + 1);
    const each = classes.map(([right, size]) => {
      const a = right + PRIOR_UNITS * centre;
      const total = size + PRIOR_UNITS;
      const variance = (a * (total - a)) / (total * (total + 1)) / size;
      return { share: a / total, variance, freedom: Math.max(total - 1, 1) };
    });
    const inAll = each.reduce((sum, one) => sum + one.variance, 0);
    const freedom =
      inAll ** 2 / each.reduce((sum, one) => sum + one.variance ** 2 / one.freedom, 0);
    const moved = Math.min(Math.max(mean(each.map((one) => one.share)), INSIDE), 1 - INSIDE);
    const size = Math.max((moved * (1 - moved)) / (inAll / classes.length ** 2), 1);
    const [low, high] = scoreEnds(value, size, studentQuantile(freedom, level, z));
    return [Math.min(low, value), Math.max(high, value)];
  }
  const OF_RECALLS = {
    balanced_accuracy: (ends) => ends,
    youden: (ends) => ends.map((end) => 2 * end - 1),
  };

  // A measure's value and interval on tp, fp, fn, tn, n (accepted) and rejected.
  function estimate(measure, counts, options) {
    const settings = { ...options, beta: measure.beta };
    const range = measure.name === "cost" ? costRange(options.costs) : [measure.low, measure.high];
    const asShare = shareOf(measure);
    let value;
    let interval = null;
    if (asShare) {
      const [k, n, transform] = asShare(counts);
      value = n === 0 ? NaN : transform(k / n);
      if (options.hasIntervals) {
        const ends = clopperPearson(k, n, options.level, options.z).map(transform);
        interval = [Math.min(...ends), Math.max(...ends)];
      }
    } else {
      const formula = SMOOTH[measure.formula];
      value = formula(withSlopes(counts), settings).value;
      if (options.hasIntervals && !Number.isNaN(value)) {
        const ofRecalls = OF_RECALLS[measure.formula];
        interval = ofRecalls
          ? ofRecalls(meanOfRecalls(counts, options.level, options.z))
          : smoothedDelta(formula, counts, value, range, settings);
      }
    }
    const defined = !Number.isNaN(value);
    if (!defined) {
      interval = options.hasIntervals ? range : null;
      if (options.zeroDivision !== null) value = options.zeroDivision;
    }
    return { value, interval, defined, range };
  }

  function shareOf(measure) {
    if (measure.beta === null) return SHARES[measure.formula];
    const inner = SHARES[SHARE_AT_BETA.get(measure.beta)];
    if (!inner || measure.formula === "f_beta") return inner;
    return (counts) => {
      const [k, n, transform] = inner(counts);
      return [k, n, (share) => 1 - transform(share)];
    };
  }

  function costRange(costs) {
    const values = OUTCOMES.map((name) => costs[name]);
    return [Math.min(...values), Math.max(...values)];
  }

  // ---- How numbers are written ---------------------------------------------------------------------

  const FEWEST_DECIMALS = 3;
  const MOST_DECIMALS = 15;
  const SMALL = 1e-4;

  const exponent = (value) => Number(value.toExponential().split("e")[1]);

  function decimalsFor(width) {
    if (!(width > 0 && width < Infinity)) return FEWEST_DECIMALS;
    return Math.min(Math.max(FEWEST_DECIMALS, 1 - exponent(width)), MOST_DECIMALS);
  }

  // Both languages round the exact binary value, but exactly between two decimals one goes up and
  // the other to the even digit.
  function toEven(rounded, longer) {
    const places = (text) => text.split(".")[1].length;
    const rest = longer.slice(longer.length - (places(longer) - places(rounded)));
    const odd = Number(rounded.at(-1)) % 2 === 1;
    return odd && /^50*$/.test(rest) ? rounded.slice(0, -1) + (Number(rounded.at(-1)) - 1) : rounded;
  }

  function fixed(value, decimals) {
    // From here on all doubles are whole numbers, and toFixed would give an exponent.
    if (Math.abs(value) >= 1e21) return `${BigInt(value)}.${"0".repeat(decimals)}`;
    return toEven(value.toFixed(decimals), value.toFixed(decimals + 30));
  }

  function number(value, decimals = FEWEST_DECIMALS) {
    if (Number.isNaN(value)) return "undefined";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
    if (value !== 0 && Math.abs(value) < SMALL) {
      const digits = Math.max(2, exponent(value) + decimals);
      const [shown, power] = value.toExponential(digits).split("e");
      const [longer, samePower] = value.toExponential(digits + 30).split("e");
      const even = power === samePower ? toEven(shown, longer) : shown;
      return `${even}e${power[0]}${power.slice(1).padStart(2, "0")}`;
    }
    return fixed(value, decimals);
  }

  function written({ value, interval }) {
    if (interval === null) return { value: number(value), interval: "–" };
    const decimals = decimalsFor(interval[1] - interval[0]);
    const ends = interval.map((end) => number(end, decimals));
    return { value: number(value, decimals), interval: `[${ends.join(", ")}]` };
  }

  return { OUTCOMES, estimate, fixed, number, written };
})();
