// The questionnaire works without this file. With it, the time on each page is taken here too,
// a reload keeps what was chosen, and an answer is sent again until the server has it.
(() => {
  "use strict";

  // A page taken out of the browser's memory by the back button may be an old one.
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });

  const form = document.querySelector("form[data-page]");
  if (!form) return;
  const status = form.querySelector(".status");
  const slot = `crisptree ${location.pathname} ${form.dataset.page}`;
  const MOST_EVENTS = 200;
  const LONGEST_WAIT_MS = 10_000;

  // performance.now() alone would start again at a reload.
  const now = () => performance.timeOrigin + performance.now();
  const page = recall() || { first: now(), away: 0, log: [], left: null, chosen: [] };
  restore(page.chosen);

  const isHere = () => document.visibilityState === "visible" && document.hasFocus();
  let busy = false;
  if (page.left !== null && isHere()) arrive();
  if (page.left === null && !isHere()) leave();
  remember();
  for (const name of ["focus", "blur", "pagehide"]) addEventListener(name, look);
  document.addEventListener("visibilitychange", look);
  form.addEventListener("input", () => {
    page.chosen = chosen();
    remember();
  });
  form.addEventListener("submit", send);

  function look(event) {
    if (busy) return;
    const here = event.type !== "pagehide" && isHere();
    if (here && page.left !== null) arrive();
    if (!here && page.left === null) leave();
    remember();
  }

  function leave() {
    page.left = now();
    note(page.left, "blur");
  }

  function arrive() {
    const at = now();
    page.away += at - page.left;
    page.left = null;
    note(at, "focus");
  }

  function note(at, what) {
    if (page.log.length < MOST_EVENTS) page.log.push([Math.round(at - page.first), what]);
  }

  function timing() {
    const ms = Math.round(now() - page.first);
    const away = page.away + (page.left === null ? 0 : now() - page.left);
    return { ms, away_ms: Math.min(ms, Math.round(away)), focus_log: page.log };
  }

  async function send(event) {
    event.preventDefault();
    if (busy) return;
    busy = true;
    const fields = new URLSearchParams(new FormData(form));
    if (event.submitter && event.submitter.name) {
      fields.set(event.submitter.name, event.submitter.value);
    }
    fields.set("timing", JSON.stringify(timing()));
    disable(true);
    status.textContent = "Saving…";
    for (let attempt = 1; ; attempt++) {
      const reply = await post(fields);
      if (reply && reply.ok) {
        const result = await reply.json().catch(() => null);
        if (result && result.saved) {
          status.textContent = "Saved.";
          sessionStorage.removeItem(slot);
          location.replace(result.kept && attempt === 1 ? `${result.next}?kept=1` : result.next);
          return;
        }
      } else if (reply && reply.status === 422) {
        // Something is missing or wrong in what was filled in, and the server says what.
        const result = await reply.json().catch(() => null);
        status.textContent = (result && result.notice) || "This cannot be saved.";
        disable(false);
        busy = false;
        return;
      } else if (reply && reply.status < 500 && reply.status !== 429) {
        // The server will not take it. Only a fresh page can say why.
        sessionStorage.removeItem(slot);
        location.reload();
        return;
      }
      status.textContent = "Not saved yet: the server cannot be reached. Trying again…";
      await new Promise((done) => setTimeout(done, Math.min(500 * 2 ** attempt, LONGEST_WAIT_MS)));
    }
  }

  function disable(yes) {
    for (const button of form.querySelectorAll("button")) button.setAttribute("aria-disabled", yes);
  }

  function post(fields) {
    const headers = { Accept: "application/json" };
    // Not form.action: a field of that name would be found instead of the address.
    const address = form.getAttribute("action");
    return fetch(address, { method: "POST", body: fields, headers }).catch(() => null);
  }

  function chosen() {
    return [...new FormData(form)].filter(([name]) => name !== "token");
  }

  function restore(pairs) {
    for (const [name, value] of pairs) {
      for (const field of form.elements) {
        if (field.name !== name) continue;
        if (field.type === "radio") field.checked = field.value === value || field.checked;
        else if (field.tagName !== "BUTTON") field.value = value;
      }
    }
  }

  function recall() {
    try {
      return JSON.parse(sessionStorage.getItem(slot));
    } catch {
      return null;
    }
  }

  function remember() {
    try {
      sessionStorage.setItem(slot, JSON.stringify(page));
    } catch {
      // Storage is full or forbidden: the server's clock still runs.
    }
  }
})();
