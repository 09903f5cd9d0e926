// What one node says: its rule in words, how many states pass it, which values they have there.
// The legend, and the table of rules.

function tell(at) {
  const node = nodes[at], leaf = isLeaf(at);
  const name = leaf ? node.text : node.flag ? node.question : `${node.answers[1]}?`;
  const lines = [element("p", {}, element("strong", {}, name))];
  const line = (text) => lines.push(element("p", {}, text));
  if (leaf) line(node.where ? `if ${node.where}` : "always");
  else line(`${node.where ? `reached if ${node.where}` : "reached always"}; the threshold is exactly ${node.exact}`);
  if (node.visits !== null) {
    line(`${node.visits.toLocaleString("en")} of ${counted(data.states, "recorded state")} `
      + `(${percent(node.visits)}) ${leaf ? "end here" : "pass"}`);
  }
  const picture = histogramAt(at);
  if (!leaf) lines.push(element("p", {}, foldButton(at)));
  byId("detail").replaceChildren(element("div", {}, ...lines), ...(picture ? [picture] : []));
}

/** For fingers, which have no double click. */
function foldButton(at) {
  const isFolded = folded.has(at);
  const button = element("button", { class: "small" },
    isFolded ? `Unfold ${counted(leavesBelow[at], "leaf", "leaves")}` : "Fold");
  button.addEventListener("click", () => toggle(at));
  return button;
}

/** The values of a node's feature in the states that pass; at a leaf, those of the comparison
 *  before it, of which the leaf has one side. */
function histogramAt(at) {
  if (!isLeaf(at)) return nodes[at].histogram && histogram(nodes[at], ["no", "yes"]);
  const before = nodes[parentOf[at]];
  if (!before?.histogram) return null;
  return histogram(before, before.yes === at ? ["other", "yes"] : ["no", "other"]);
}

/** `sides`: how the states that answer no, and those that answer yes, are painted. */
function histogram(node, sides) {
  const [low, high, ...counts] = node.histogram;
  const width = 240, height = 64, wide = width / counts[0].length;
  const most = Math.max(...counts[0].map((count, at) => count + counts[1][at]));
  const tall = (count) => (count * height) / most;
  const bars = counts[0].flatMap((_, at) => [0, 1].map((side) => {
    const start = side ? tall(counts[0][at]) : 0, own = tall(counts[side][at]);
    const place = { x: at * wide, width: wide - 1, y: height - start - own, height: own };
    return shape("rect", { class: sides[side], ...place });
  }));
  const share = shareOf(node.threshold, low, high);
  const marks = share >= 0 && share <= 1
    ? [shape("line", { x1: share * width, x2: share * width, y1: -4, y2: height })] : [];
  const answers = [node.no, node.yes].map((to, side) =>
    `${side ? "yes" : "no"} ${nodes[to].visits.toLocaleString("en")}`);
  const key = answers.flatMap((text, side) => [element("i", { class: sides[side] }), text]);
  const { name } = features[node.feature];
  return element("figure", { class: "histogram" },
    element("p", {}, name),
    shape("svg", {
      viewBox: `0 -6 ${width} ${height + 7}`, role: "img", "aria-label": `${name}: ${answers}`,
    }, ...bars, ...marks),
    element("figcaption", {},
      element("span", {}, short(low)), element("span", {}, ...key), element("span", {}, short(high))));
}

function fillLegend() {
  const entries = data.legend.map((entry) => {
    if (!entry.colours) return pill(entry, entry.label);
    const stops = entry.colours.join(", ");
    return element("span", { class: "scale" }, `${entry.label} ${entry.low} `,
      element("i", { style: [["background", `linear-gradient(to right, ${stops})`]] }), ` ${entry.high}`);
  });
  const notes = actions.note ? [actions.note] : [];
  if (data.states) notes.push(`the wider a line, the more of ${counted(data.states, "state")} go along it`);
  if (folded.size) notes.push("click “+ leaves” to unfold");
  byId("legend").replaceChildren(...entries, element("span", { class: "soft" }, notes.join("; ")));
}

/** The table of rules: one a leaf, TRUE branches first, or the list in its order. */
const ruleRows = new Map();
function fillRules() {
  const rows = data.rules.map(({ leaf, text }, at) => {
    const { visits } = nodes[leaf];
    const row = element("tr", { "data-leaf": leaf },
      element("td", { class: "count" }, String(at + 1)),
      element("td", {}, data.list ? text : text.replace(/^if /, "")),
      element("td", { class: nodes[leaf].text.length <= 30 ? "short" : "" },
        pill(nodes[leaf], nodes[leaf].text)),
      element("td", { class: "count" }, visits === null ? "" : visits.toLocaleString("en")),
      element("td", { class: "count" }, visits === null ? "" : percent(visits)));
    row.addEventListener("click", () => { focusOn(leaf); tell(leaf); });
    ruleRows.set(leaf, row);
    return row;
  });
  byId("rules").classList.toggle("uncounted", !data.states);
  byId("rules").tBodies[0].replaceChildren(...rows);
}

function lightRule(leaf) {
  for (const [at, row] of ruleRows) row.classList.toggle("lit", at === leaf);
}
