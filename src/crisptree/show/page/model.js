// The policy: what is in the page's data, and the way from the root to a leaf and its action.

const data = JSON.parse(document.getElementById("data").textContent);
const { nodes, features, actions } = data;
nodes.forEach((node, at) => { node.visits = data.visits ? data.visits[at] : null; });
const isLeaf = (at) => nodes[at].feature < 0;

/** An observation with the sums of the derived features behind it, where there are any. */
const derived = features.filter(({ terms }) => terms.length);
const completed = (observation) => derived.length ? [
  ...observation.slice(0, features.length - derived.length),
  ...derived.map(({ terms }) =>
    terms.map(([at, weight]) => weight * observation[at]).reduce((sum, term) => sum + term)),
] : observation;

/** The nodes an observation passes: TRUE where x[feature] > threshold. */
function pathOf(given) {
  const path = [0], observation = completed(given);
  for (let at = 0; !isLeaf(at); path.push(at)) {
    const { feature, threshold, yes, no } = nodes[at];
    at = observation[feature] > threshold ? yes : no;
  }
  return path;
}

const leafOf = (observation) => pathOf(observation).pop();

/** Of a real vector: what a leaf gives at an observation, within the bounds. */
function vectorOf(leaf, observation) {
  const values = nodes[leaf].values.slice();
  for (const [dimension, feature, weight] of nodes[leaf].gains) {
    values[dimension] += weight * observation[feature];
  }
  return values.map((value, at) => {
    const { low, high } = actions.scales[at];
    return !(value > low) ? low : !(value < high) ? high : value;
  });
}

/** The action of a leaf in words; of a linear leaf, the numbers it comes to. */
function actionText(leaf, observation) {
  if (!nodes[leaf].gains.length) return nodes[leaf].text;
  const values = vectorOf(leaf, observation);
  return values.map((value, at) => `${actions.names[at]} = ${short(value)}`).join(", ");
}

/** The colours of the action at an observation: one, or one for each number. */
function coloursAt(observation) {
  const leaf = leafOf(observation);
  if (actions.kind !== "box") return [nodes[leaf].fill];
  return vectorOf(leaf, observation).map((value, at) => {
    const { low, high, colours } = actions.scales[at];
    const place = Math.round(shareOf(value, low, high) * (colours.length - 1));
    return colours[Math.max(0, Math.min(place || 0, colours.length - 1))];
  });
}

/** Where a value lies between two others, from 0 to 1; halves where their distance is too large. */
function shareOf(value, low, high) {
  const span = high - low;
  if (Number.isFinite(span)) return span > 0 ? (value - low) / span : 0;
  return (value / 2 - low / 2) / (high / 2 - low / 2);
}

const parentOf = new Array(nodes.length).fill(-1);
nodes.forEach((node, at) => {
  if (!isLeaf(at)) parentOf[node.yes] = parentOf[node.no] = at;
});

/** How many leaves lie below each node, itself included. */
const leavesBelow = (() => {
  const count = new Array(nodes.length).fill(0);
  const order = [0];
  for (const at of order) if (!isLeaf(at)) order.push(nodes[at].yes, nodes[at].no);
  for (const at of order.reverse()) {
    count[at] = isLeaf(at) ? 1 : count[nodes[at].yes] + count[nodes[at].no];
  }
  return count;
})();

/** A node in words: what holds after an answer, or an action. */
const wordsOf = (at, answer = true) => isLeaf(at) ? nodes[at].text : nodes[at].answers[+answer];
const counted = (count, one, many = `${one}s`) =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
const percent = (count) => `${((100 * count) / data.states).toFixed(1)} %`;

/** A number for reading: four digits that count. */
function short(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-4 ? value.toExponential(2) : `${+value.toPrecision(4)}`;
  return text.replace("-", "−").replace("e-", "e−").replace("e+", "e");
}

/** An element with attributes and children; text is never read as HTML. */
function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function shape(name, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "style") for (const [name, set] of value) made.style.setProperty(name, set);
    else if (value !== null) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

const byId = (id) => document.getElementById(id);
const coloured = ({ fill, on, border }) =>
  (fill ? [["--fill", fill], ["--on", on], ["--dashes", border || "none"]] : []);
const pill = (style, text) => element("span",
  { class: style.border ? "pill dashed" : "pill", style: coloured(style) }, text);

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}
