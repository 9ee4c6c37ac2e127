// Clopper and Pearson's interval of k of n, as intervals/binomial.py and beta_quantile.py give it,
// and Student's quantile, as intervals/distributions.py does.
//
// Problem   find θ with  I(a, b; x) = tail,  x = 1 / (1 + exp(−θ)),  I the regularised incomplete beta
// Method    Newton's steps on log I, each kept inside the bracket that all earlier ones leave
// Why       in logarithms nothing underflows, and in log-odds a share of 1e-12 and its complement
//           are equally precise
const exactIntervals = (() => {
  "use strict";

  const WIDEST = 740; // beyond these log-odds a double has no proportion left
  const NEWTON_STEPS = 30;
  const MOST_TERMS = 2_000_000; // of the continued fraction; it needs about √(a + b) of them
  const FEW = 100;
  const HALF_LOG_TWO_PI = 0.5 * Math.log(2 * Math.PI);

  const expit = (logOdds) => 1 / (1 + Math.exp(-logOdds));

  // What Stirling's formula leaves of log Γ(a); under 10 by Γ(a) = Γ(a + m) / (a ⋯ (a + m − 1)).
  function stirlingError(a) {
    if (a < 10) {
      let product = 1;
      let above = a;
      for (; above < 10; above += 1) product *= above;
      const logGamma =
        (above - 0.5) * Math.log(above) - above + HALF_LOG_TWO_PI + stirlingError(above) -
        Math.log(product);
      return logGamma - (a - 0.5) * Math.log(a) + a - HALF_LOG_TWO_PI;
    }
    const inverse = 1 / (a * a);
    return (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / a;
  }

  // o·log(o/e) + e − o, with excess = o − e known better than the difference would be.
  function halfDeviance(observed, excess, expected) {
    const share = -excess / observed;
    return observed * (share - (share < -0.5 ? Math.log(expected / observed) : Math.log1p(share)));
  }

  // log x^a (1 − x)^b / B(a, b) by Loader's deviance form, which adds no large numbers that cancel.
  function logKernel(a, b, logOdds) {
    const x = expit(logOdds);
    const complement = expit(-logOdds);
    const excess = a * complement - b * x;
    const fallen =
      halfDeviance(a, excess, (a + b) * x) + halfDeviance(b, -excess, (a + b) * complement);
    const scale = 0.5 * (Math.log(a) + Math.log(b) - Math.log(a + b));
    const stirling = stirlingError(a + b) - stirlingError(a) - stirlingError(b);
    return scale - HALF_LOG_TWO_PI + stirling - fallen;
  }

  // The continued fraction of I(a, b; x) · a / kernel (DLMF 8.17.22), by Lentz's method.
  function continuedFraction(a, b, x) {
    const tiny = 1e-300;
    const kept = (value) => (Math.abs(value) < tiny ? tiny : value);
    let c = 1;
    let d = 1 / kept(1 - ((a + b) * x) / (a + 1));
    let fraction = d;
    for (let m = 1; m < MOST_TERMS; m += 1) {
      const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
      d = 1 / kept(1 + even * d);
      c = kept(1 + even / c);
      fraction *= d * c;
      const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
      d = 1 / kept(1 + odd * d);
      c = kept(1 + odd / c);
      const factor = d * c;
      fraction *= factor;
      if (Math.abs(factor - 1) < 1e-15) break;
    }
    return fraction;
  }

  // I(a, b; x) / x^a for a few whole b: a sum of positive terms, precise for x next to 1.
  function fewTerms(a, b, complement) {
    let term = 1;
    let sum = 1;
    for (let j = 1; j < b; j += 1) {
      term *= ((a + j - 1) / j) * complement;
      sum += term;
    }
    return sum;
  }

  // log I(a, b; x) and its slope in the log-odds of x.
  function logTail(a, b, logOdds) {
    const x = expit(logOdds);
    const kernel = logKernel(a, b, logOdds);
    if (b <= FEW && Number.isInteger(b)) {
      const sum = fewTerms(a, b, expit(-logOdds));
      if (sum < Infinity) {
        const value = Math.log(sum) - a * Math.log1p(Math.exp(-logOdds));
        return [value, Math.exp(kernel - value)];
      }
    }
    if (x < (a + 1) / (a + b + 2)) {
      const share = continuedFraction(a, b, x) / a;
      return [kernel + Math.log(share), 1 / share];
    }
    const above = (Math.exp(kernel) * continuedFraction(b, a, expit(-logOdds))) / b;
    return [Math.log1p(-above), Math.exp(kernel) / (1 - above)];
  }

  // Wilson's score interval, from which the search starts.
  function scoreEnd(count, total, z) {
    const spread = z * Math.sqrt(count * (1 - count / total) + (z * z) / 4);
    return (count + (z * z) / 2 + spread) / (total + z * z);
  }

  function firstGuess(a, b, z) {
    const total = a + b - 1;
    const count = a - 0.5;
    const end = scoreEnd(count, total, z);
    const start = ((count / total) * count) / (total + z * z) / end;
    return Math.log(start) - Math.log1p(-start);
  }

  function betaLogOdds(a, b, tail, guess) {
    const target = Math.log(tail);
    let low = -WIDEST;
    let high = WIDEST;
    let logOdds = Math.min(Math.max(guess, low), high);
    for (let step = 0; step < NEWTON_STEPS + 70; step += 1) {
      const here = logOdds;
      const [value, slope] = logTail(a, b, here);
      const residual = value - target;
      const proposal = here - residual / slope;
      if (residual < 0) low = here;
      else high = here;
      const inside = low <= proposal && proposal <= high && slope > 0;
      logOdds = inside && step < NEWTON_STEPS ? proposal : 0.5 * (low + high);
      if ((inside && Math.abs(residual) <= 1e-6) || high - low <= 2e-16 * Math.abs(here)) break;
    }
    return logOdds;
  }

  // Exact interval of k of n; `z` is the normal quantile of the tail.
  function clopperPearson(k, n, level, z) {
    if (n === 0) return [0, 1];
    const tail = (1 - level) / 2;
    const share = k / n;
    const lowest = (a, b) => betaLogOdds(a, b, tail, firstGuess(a, b, z));
    const low = k > 0 ? expit(lowest(k, n - k + 1)) : 0;
    const high = k < n ? expit(-lowest(n - k, k + 1)) : 1;
    return [Math.min(Math.max(low, 0), share), Math.max(Math.min(high, 1), share)];
  }

  // The t with |T| ≤ t at the probability `level`: ν/(ν + T²) is beta with shapes ν/2 and ½.
  function studentQuantile(freedom, level, z) {
    const degrees = Math.max(freedom, 1);
    const guess = Math.log(degrees) - 2 * Math.log(z);
    const logOdds = betaLogOdds(degrees / 2, 0.5, 1 - level, guess);
    return Math.sqrt(degrees) * Math.exp(-0.5 * logOdds);
  }

  // Wilson's interval of a share of `size` units, with any quantile.
  function scoreEnds(share, size, quantile) {
    const count = share * size;
    const high = scoreEnd(count, size, quantile);
    const product = ((count / size) * count) / (size + quantile * quantile);
    return [count > 0 ? product / high : 0, Math.min(high, 1)];
  }

  return { clopperPearson, expit, scoreEnds, studentQuantile };
})();
