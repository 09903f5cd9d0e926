// The observation: a slider and a typed value for each feature; the path it takes, lit at once.

let observation = data.start.slice();
const inputs = new Map();

function slider(feature) {
  const [low, high] = data.ranges[feature];
  const id = `feature-${feature}`;
  const range = element("input", {
    type: "range", min: low, max: high, step: "any", "aria-label": data.features[feature],
  });
  const number = element("input", { type: "number", step: "any", id });
  const track = element("div", { class: "track" }, range);
  const thresholds = new Set(inner.filter((at) => nodes[at].feature === feature).map((at) => nodes[at].threshold));
  for (const threshold of thresholds) {
    const share = (threshold - low) / (high - low);
    if (share < 0 || share > 1) continue;
    // A slider's thumb is 16 pixels wide: its middle runs from 8 to 8 before the end.
    const left = `calc(8px + ${share} * (100% - 16px) - 1px)`;
    track.append(element("span", { class: "tick", style: [["left", left]] }));
  }
  range.addEventListener("input", () => changed(feature, range.valueAsNumber));
  number.addEventListener("input", () => {
    if (Number.isFinite(number.valueAsNumber)) changed(feature, number.valueAsNumber, number);
  });
  inputs.set(feature, { range, number });
  return element("div", { class: "slider" },
    element("label", { for: id }, data.features[feature]), track, number);
}

function changed(feature, value, typed = null) {
  pause();
  const next = observation.slice();
  next[feature] = value;
  observe(next, typed);
}

/** The fewest digits that give back the number, or, if it came as a float32, that float32. */
function written(value) {
  const single = Math.fround(value) === value;
  for (let digits = 1; digits < 17; digits++) {
    const rounded = +value.toPrecision(digits);
    if (rounded === value || (single && Math.fround(rounded) === value)) return String(rounded);
  }
  return String(value);
}

/** Take an observation: fill the inputs (but not the one being typed in), light its path. */
function observe(next, typed = null) {
  observation = next;
  for (const [feature, { range, number }] of inputs) {
    range.value = observation[feature];
    if (number !== typed) number.value = written(observation[feature]);
  }
  const path = pathOf(observation);
  light(path);
  const leaf = path[path.length - 1];
  lightRule(leaf);
  follow();
  // Read out what a person sets, not each frame of a film.
  byId("decision").setAttribute("aria-live", playing === null ? "polite" : "off");
  byId("decision").replaceChildren("Takes ", pill(nodes[leaf].action));
  byId("path").replaceChildren(...steps(path));
}

/** The comparisons of the path with the distance to each threshold; the closest stands out. */
function steps(path) {
  const comparisons = path.filter((at) => !isLeaf(at));
  const distances = comparisons.map((at) => Math.abs(observation[nodes[at].feature] - nodes[at].threshold));
  const closest = Math.min(...distances.map((each, at) => each / span(nodes[comparisons[at]].feature)));
  return comparisons.map((at, row) => {
    const { feature } = nodes[at];
    const value = observation[feature], answer = value > nodes[at].threshold;
    const distance = distances[row];
    const nearest = distance / span(feature) === closest && comparisons.length > 1;
    return element("li", { "data-node": at },
      `${data.features[feature]} ${short(value)} ${answer ? ">" : "≤"} ${minus(nodes[at].shown)} `,
      element("span", { class: nearest ? "near" : "soft" },
        distance === 0 ? "on the threshold" : `by ${short(distance)}`));
  });
}

const span = (feature) => data.ranges[feature][1] - data.ranges[feature][0];

function fillSliders() {
  byId("sliders").replaceChildren(...used.map(slider));
  const rest = data.features.map((name, at) => at).filter((at) => !used.includes(at));
  if (!rest.length) return;
  const box = byId("unused");
  box.hidden = false;
  box.querySelector("summary").textContent =
    `${rest.length} feature${rest.length > 1 ? "s" : ""} the tree never looks at`;
  box.querySelector("div").textContent = rest.slice(0, 200).map((at) => data.features[at]).join(", ");
}
