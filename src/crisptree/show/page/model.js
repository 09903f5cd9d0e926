// The policy: what is in the page's data, and the walk from the root to a leaf.

const data = JSON.parse(document.getElementById("data").textContent);
const nodes = data.nodes.feature.map((feature, at) => ({
  feature,
  threshold: data.nodes.threshold[at],
  yes: data.nodes.if_true[at],
  no: data.nodes.if_false[at],
  action: data.nodes.action[at],
  shown: data.thresholds[at],
  where: data.where[at],
  visits: data.visits ? data.visits[at] : null,
  seen: data.seen ? data.seen[at] : null,
}));
const isLeaf = (node) => nodes[node].feature < 0;

/** The nodes an observation passes: TRUE where x[feature] > threshold. */
function pathOf(observation) {
  const path = [0];
  for (let node = 0; !isLeaf(node); path.push(node)) {
    const { feature, threshold, yes, no } = nodes[node];
    node = observation[feature] > threshold ? yes : no;
  }
  return path;
}

const parentOf = new Array(nodes.length).fill(-1);
nodes.forEach((node, at) => {
  if (node.feature >= 0) parentOf[node.yes] = parentOf[node.no] = at;
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

const minus = (text) => text.replace(/-/g, "−");

/** A node in words: a comparison, or an action. */
function wordsOf(at, answer = true) {
  const node = nodes[at];
  if (node.feature < 0) return data.actions[node.action];
  return `${data.features[node.feature]} ${answer ? ">" : "≤"} ${minus(node.shown)}`;
}

/** A number for reading: four digits that count. */
function short(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-4 ? value.toExponential(2) : `${+value.toPrecision(4)}`;
  return minus(text);
}

/** An element with attributes and children; text is never read as HTML. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  return filled(made, attributes, children);
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
const coloured = (action) => [["--fill", data.colours[action]], ["--on", data.inks[action]]];
const pill = (action) =>
  element("span", { class: "pill", style: coloured(action) }, data.actions[action]);

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}
