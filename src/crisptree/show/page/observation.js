// The observation: an input for each feature; the path it takes and its action, shown at once.

let observation = completed(data.start.slice());
const inputs = new Map();
const summed = used.flatMap((at) => features[at].terms.map(([part]) => part));
const sized = [...new Set([...used, ...read, ...summed])]
  .filter((at) => !features[at].terms.length).sort((a, b) => a - b);

/** An input for one feature: a switch, a list of names, or a slider with a typed value. */
function inputFor(feature) {
  const { kind, categories, name } = features[feature];
  const id = `feature-${feature}`;
  const label = element("label", { for: id }, name);
  if (kind === "flag") {
    const box = element("input", { type: "checkbox", id, role: "switch" });
    const said = element("span", { class: "soft" });
    box.addEventListener("input", () => changed(feature, +box.checked));
    inputs.set(feature, (value) => {
      box.checked = value > 0;
      said.textContent = value > 0 ? "yes" : "no";
    });
    return element("div", { class: "slider switch" }, label, element("div", {}, box, said));
  }
  if (kind === "category" && categories.length) return categoryInput(feature, id, label);
  return numberInput(feature, id, label);
}

function categoryInput(feature, id, label) {
  const { categories, first } = features[feature];
  const select = element("select", { id },
    ...categories.map((category, at) => element("option", { value: first + at }, category)));
  select.addEventListener("input", () => changed(feature, +select.value));
  inputs.set(feature, (value) => { select.value = String(value); });
  return element("div", { class: "slider choice" }, label, select);
}

/** The slider runs from 0 to 1, whatever the size of the numbers; the typed value is exact. */
function numberInput(feature, id, label) {
  const { kind, range: [low, high], name } = features[feature];
  const whole = kind === "category";
  const range = element("input", {
    type: "range", min: 0, max: 1, step: "any", "aria-label": name,
  });
  const number = element("input", { type: "number", step: whole ? 1 : "any", id });
  const track = element("div", { class: "track" }, range);
  const thresholds = new Set(inner.filter((at) => nodes[at].feature === feature)
    .map((at) => nodes[at].threshold));
  for (const threshold of thresholds) {
    const share = shareOf(threshold, low, high);
    if (!(share >= 0 && share <= 1)) continue;
    // A slider's thumb is 16 pixels wide: its middle runs from 8 to 8 before the end.
    const left = `calc(8px + ${share} * (100% - 16px) - 1px)`;
    track.append(element("span", { class: "tick", style: [["left", left]] }));
  }
  range.addEventListener("input", () => {
    const value = low * (1 - range.valueAsNumber) + high * range.valueAsNumber;
    changed(feature, whole ? Math.round(value) : value, range);
  });
  number.addEventListener("input", () => {
    if (Number.isFinite(number.valueAsNumber)) changed(feature, number.valueAsNumber, number);
  });
  inputs.set(feature, (value, changing) => {
    if (changing !== range) range.value = shareOf(value, low, high);
    if (changing !== number) number.value = written(value);
  });
  return element("div", { class: "slider" }, label, track, number);
}

function changed(feature, value, changing = null) {
  pause();
  const next = observation.slice();
  next[feature] = value;
  observe(next, changing);
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

/** Take an observation: fill the inputs (but not the one being changed), light its path. */
function observe(next, changing = null) {
  observation = completed(next);
  for (const [feature, fill] of inputs) fill(observation[feature], changing);
  const path = pathOf(observation);
  light(path);
  const leaf = path[path.length - 1];
  lightRule(leaf);
  follow();
  // Read out what a person sets, not each frame of a replay.
  byId("decision").setAttribute("aria-live", playing === null ? "polite" : "off");
  byId("decision").replaceChildren("Takes ", pill(nodes[leaf], actionText(leaf, observation)));
  byId("formula").hidden = !nodes[leaf].gains.length;
  byId("formula").textContent = nodes[leaf].text;
  byId("path").replaceChildren(...steps(path));
}

/** The comparisons of the path with the distance to each threshold; the closest stands out. */
function steps(path) {
  const comparisons = path.filter((at) => !isLeaf(at));
  const distances = comparisons.map(distanceAt);
  const closest = Math.min(...distances);
  return comparisons.map((at, row) => {
    const { feature, threshold } = nodes[at];
    const value = observation[feature], said = nodes[at].answers[+(value > threshold)];
    const item = element("li", { "data-node": at }, `${said} `);
    if (features[feature].kind !== "number") return item;
    const nearest = distances[row] === closest && comparisons.length > 1;
    const distance = Math.abs(value - threshold);
    const away = distance === 0 ? "on the threshold" : `${short(distance)} away`;
    item.append(element("span", { class: nearest ? "near" : "soft" }, `(it is ${short(value)}, ${away})`));
    return item;
  });
}

/** How far the observation is from a number's threshold, in parts of the slider. */
function distanceAt(at) {
  const { feature, threshold } = nodes[at];
  const { kind, range: [low, high] } = features[feature];
  if (kind !== "number") return Infinity;
  return Math.abs(shareOf(observation[feature], low, high) - shareOf(threshold, low, high));
}

function fillInputs() {
  byId("sliders").replaceChildren(...sized.map(inputFor));
  const rest = features.map((feature, at) => at)
    .filter((at) => !sized.includes(at) && !features[at].terms.length);
  if (!rest.length) return;
  const box = byId("unused");
  box.hidden = false;
  box.querySelector("summary").textContent =
    `${counted(rest.length, "feature")} the policy never looks at`;
  box.querySelector("div").textContent = rest.slice(0, 200).map((at) => features[at].name).join(", ");
}
