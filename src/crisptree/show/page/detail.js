// What one node says: its rule in words, how many states pass it, the values it sees.

function tell(at) {
  const node = nodes[at], leaf = node.feature < 0;
  const name = leaf ? data.actions[node.action] : `${wordsOf(at)}?`;
  const lines = [element("p", {}, element("strong", {}, name))];
  const line = (text) => lines.push(element("p", {}, text));
  const reached = node.where ? `reached if ${minus(node.where)}` : "reached always";
  if (leaf) line(`${node.where ? `if ${minus(node.where)}` : "always"}, then ${name}`);
  else line(`${reached}; the threshold is exactly ${minus(String(node.threshold))}`);
  if (node.visits !== null) {
    const share = data.states ? ` (${((100 * node.visits) / data.states).toFixed(1)} %)` : "";
    line(`${node.visits.toLocaleString("en")} of ${data.states.toLocaleString("en")} recorded states pass${share}`);
    if (!leaf && node.visits) {
      const yes = nodes[node.yes].visits;
      line(`${data.features[node.feature]} there: ${short(node.seen[0])} … ${short(node.seen[1])}; `
        + `yes for ${yes.toLocaleString("en")}, no for ${(node.visits - yes).toLocaleString("en")}`);
    }
  }
  byId("detail").replaceChildren(...lines);
}

/** The table of rules: one a leaf, TRUE branches first, or the list in its order. */
const ruleRows = new Map();
function fillRules() {
  const rows = data.rules.map(({ leaf, text }) => {
    const visits = nodes[leaf].visits;
    const row = element("tr", { "data-leaf": leaf },
      element("td", {}, minus(text)),
      element("td", {}, pill(nodes[leaf].action)),
      element("td", { class: "visits" }, visits === null ? "" : visits.toLocaleString("en")));
    ruleRows.set(leaf, row);
    return row;
  });
  byId("rules").tBodies[0].replaceChildren(...rows);
}

function lightRule(leaf) {
  for (const [at, row] of ruleRows) row.classList.toggle("lit", at === leaf);
}
