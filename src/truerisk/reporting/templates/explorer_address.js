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
