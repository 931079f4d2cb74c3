// The command palette: a native dialog with a text box and a list. What the page brought along is matched here; the server is asked
// for questions and passages as one types, and its answers never move the marked line from under the finger.
const [FIND, FOUND] = ["berdseye-find", "berdseye-found"];
const DEBOUNCE = 120;
const SHORTEST = 2;
const [PER_KIND, AT_ONCE, RECENT] = [6, 40, 6];
const WEAK = 400;
// A passage or a heading of the documentation may have the same name as what people look for more often.
const AT_MOST = { Documentation: 650, Passage: 450 };
const plural = { Page: "Pages", Action: "Actions", Run: "Runs", Corpus: "Corpora", "Data set": "Data sets", Batch: "Batches",
  Detector: "Detectors", Job: "Jobs", Question: "Questions", Passage: "Passages", Documentation: "Documentation" };

const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const startsWord = (text, part) => {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1))
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1])) return true;
  return false;
};
function isSubsequence(text, letters) {
  let at = 0;
  for (const letter of text) if (letter === letters[at]) at += 1;
  return at === letters.length;
}
// How well an item fits: the whole name, its beginning, the beginning of a word, all words somewhere, letters in this order; 0: not.
function fit(item, query) {
  const name = (item.folded ??= folded(item.name));
  const all = (item.all ??= `${name} ${folded(item.detail)} ${folded(item.kind)}`);
  const parts = query.split(" ").filter(Boolean);
  if (name === query) return 1000;
  if (name.startsWith(query)) return 900;
  if (startsWord(name, query)) return 800;
  if (parts.every((part) => startsWord(name, part))) return 700;
  if (parts.every((part) => startsWord(all, part))) return 600;
  if (name.includes(query)) return 500;
  if (parts.every((part) => all.includes(part))) return WEAK;
  const letters = parts.join("");
  if (letters.length > 1 && parts.length === 1 && name.length < 40 && isSubsequence(name, letters)) return 200;
  return 0;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement;
  const [opener, dialog, input, list] = ["button.opens", "dialog", "input", ".lines"].map((at) => root.querySelector(at));
  const [nothing, count] = [root.querySelector(".nothing"), root.querySelector(".count")];
  root.berdseyePalette?.stop.abort();
  const state = (root.berdseyePalette ??= { found: { words: "", items: [] }, shown: [], place: 0, moved: false, waits: false });
  state.stop = new AbortController();
  const own = { signal: state.stop.signal };
  const mac = /Mac|iPhone|iPad/.test(navigator.platform);
  if (mac) opener.querySelector("kbd").textContent = "⌘ K";

  const recent = () => {
    try {
      const kept = JSON.parse(sessionStorage.getItem(data.memory) ?? "[]");
      const offered = new Set(data.items.map((item) => item.address));
      // Of what the page lists, only what it still lists; questions and passages are checked when they are opened.
      return kept.filter((item) => ["Question", "Passage"].includes(item.kind) || offered.has(item.address));
    } catch { return []; }
  };
  const remember = ({ kind, name, detail, address }) => {
    const others = recent().filter((item) => item.address !== address);
    try { sessionStorage.setItem(data.memory, JSON.stringify([{ kind, name, detail, address }, ...others].slice(0, RECENT))); }
    catch { /* the browser stores nothing */ }
  };
  const query = () => folded(input.value).trim().replace(/\s+/g, " ");

  const groups = () => {
    const typed = query();
    if (!typed) {
      const before = recent();
      const known = new Set(before.map((item) => item.address));
      const rest = data.items.filter((item) => ["Page", "Action"].includes(item.kind) && !known.has(item.address));
      return [["Recent", before], ...["Page", "Action"].map((k) => [plural[k], rest.filter((item) => item.kind === k)])];
    }
    const asked = folded(state.found.words) === typed ? state.found.items : [];
    const fits = [
      ...data.items.map((item) => [fit(item, typed), item]),
      ...asked.map((item) => [Math.max(fit(item, typed), WEAK), item]),
    ].filter(([score]) => score).map(([score, item]) => [Math.min(score, AT_MOST[item.kind] ?? score), item]);
    const kinds = new Map();
    for (const [score, item] of fits.sort((a, b) => b[0] - a[0] || a[1].name.length - b[1].name.length)) {
      if (!kinds.has(item.kind)) kinds.set(item.kind, []);
      kinds.get(item.kind).push(item);
    }
    return [...kinds].map(([kind, items]) => [plural[kind] ?? kind, items.slice(0, PER_KIND)]);
  };
  const named = (line, text) => {
    const words = query().split(" ").filter((word) => word.length > 1);
    // Folding may change the length of a text; only texts whose places stay the same are marked.
    const plain = folded(text);
    let at = 0;
    while (words.length && plain.length === text.length && at < text.length) {
      const next = words.map((word) => [plain.indexOf(word, at), word]).filter(([place]) => place >= 0).sort((a, b) => a[0] - b[0])[0];
      if (!next) break;
      const mark = document.createElement("mark");
      mark.textContent = text.slice(next[0], next[0] + next[1].length);
      line.append(text.slice(at, next[0]), mark);
      at = next[0] + next[1].length;
    }
    line.append(text.slice(at));
  };
  const part = (kind, text) => {
    const element = document.createElement("span");
    element.className = kind;
    element.textContent = text;
    return element;
  };
  const drawn = () => {
    const before = state.shown[state.place]?.address;
    const held = groups().filter(([, items]) => items.length);
    state.shown = [];
    list.replaceChildren();
    for (const [title, items] of held) {
      if (state.shown.length >= AT_ONCE) break;
      const group = document.createElement("div");
      group.setAttribute("role", "group");
      group.setAttribute("aria-label", title);
      const head = part("title", title);
      head.setAttribute("aria-hidden", "true");
      group.append(head);
      for (const item of items.slice(0, AT_ONCE - state.shown.length)) {
        const line = document.createElement("div");
        line.setAttribute("role", "option");
        line.id = `palette-line-${state.shown.length}`;
        const name = part("name", "");
        named(name, item.name);
        line.append(name, part("detail", item.detail), part("kind", item.kind));
        group.append(line);
        state.shown.push(item);
      }
      list.append(group);
    }
    return before;
  };
  const mark = () => {
    const lines = list.querySelectorAll("[role=option]");
    lines.forEach((line, n) => line.setAttribute("aria-selected", String(n === state.place)));
    const current = lines[state.place];
    input.setAttribute("aria-expanded", String(lines.length > 0));
    list.hidden = !lines.length;
    if (!current) return input.removeAttribute("aria-activedescendant");
    input.setAttribute("aria-activedescendant", current.id);
    if (state.place === 0) list.scrollTop = 0;
    else current.scrollIntoView({ block: "nearest" });
  };
  const pending = () => query().length >= SHORTEST && folded(state.found.words) !== query();
  const tell = () => {
    nothing.hidden = state.shown.length > 0;
    nothing.textContent = pending() ? "Searching questions and passages…" : "Nothing has this name. Try other words.";
    const words = state.shown.length === 1 ? "1 result" : `${state.shown.length} results`;
    count.textContent = pending() ? "" : words;
  };
  const typed = () => {
    Object.assign(state, { moved: false, waits: false });
    drawn();
    state.place = 0;
    mark();
    clearTimeout(state.timer);
    if (pending()) {
      const words = input.value.trim().replace(/\s+/g, " ");
      state.timer = setTimeout(() => document.dispatchEvent(new CustomEvent(FIND, { detail: words })), DEBOUNCE);
    }
    tell();
  };
  const arrived = ({ detail }) => {
    state.found = detail;
    if (!dialog.open) return;
    const weak = !state.moved && (!state.shown.length || fit(state.shown[state.place], query()) < WEAK);
    const before = drawn();
    const place = state.shown.findIndex((item) => item.address === before);
    state.place = weak || place < 0 ? 0 : place;
    mark();
    tell();
    if (state.waits && state.shown.length && !pending()) choose(state.shown[0]);
  };
  const show = () => {
    if (dialog.open) return;
    state.before = document.activeElement;
    input.value = "";
    dialog.showModal();
    input.focus();
    typed();
  };
  const close = () => dialog.close();
  const closed = () => {
    clearTimeout(state.timer);
    state.waits = false;
    if (state.before?.isConnected && state.before !== document.body) state.before.focus({ preventScroll: true });
  };
  const addressOf = (item) => {
    const [page, ask] = item.address.split(/\?(.*)/s);
    const base = document.querySelector('[data-testid="stSidebarNavLink"]')?.href ?? location.href;
    return new URL(`${page === data.start ? "" : page}${ask ? `?${ask}` : ""}`, new URL("./", base)).href;
  };
  const choose = (item, beside = false) => {
    remember(item);
    close();
    if (item.address.startsWith("do:")) {
      // The page's own button brings back the comment and the evidence, too.
      const undo = item.address === "do:undo" && document.querySelector(".st-key-undo button:enabled");
      if (undo) undo.click();
      else setTriggerValue("action", item.address);
    } else if (beside) {
      window.open(addressOf(item), "_blank", "noopener");
    } else {
      // As with the buttons Back and Forward, Streamlit opens the page of the address, with its choices, in the same session.
      history.pushState(null, "", addressOf(item));
      window.dispatchEvent(new PopStateEvent("popstate", { state: null }));
    }
  };
  const move = (step) => {
    if (!state.shown.length) return;
    state.moved = true;
    state.place = (state.place + step + state.shown.length) % state.shown.length;
    mark();
  };
  const pressed = (event) => {
    const opens = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k";
    if (opens) {
      event.preventDefault();
      event.stopImmediatePropagation();
      if (!event.repeat) dialog.open ? close() : show();
      return;
    }
    if (!dialog.open) return;
    // No key of the page hears what is typed here.
    event.stopImmediatePropagation();
    if (event.isComposing) return;
    const act = {
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      PageDown: () => move(Math.min(8, state.shown.length - 1 - state.place)),
      PageUp: () => move(-Math.min(8, state.place)),
      Enter: () => {
        const item = state.shown[state.place];
        if (item) choose(item, event.ctrlKey || event.metaKey);
        else state.waits = pending();
      },
      Escape: close,
      Tab: () => {},
    }[event.key];
    if (!act) return;
    event.preventDefault();
    if (!event.repeat || event.key.startsWith("Arrow")) act();
  };
  const place = (event) => {
    const line = event.target.closest?.("[role=option]");
    return line ? [...list.querySelectorAll("[role=option]")].indexOf(line) : -1;
  };

  opener.onclick = show;
  dialog.onclose = closed;
  dialog.onclick = (event) => { if (event.target === dialog) close(); };
  input.oninput = typed;
  list.onclick = (event) => {
    const at = place(event);
    if (at >= 0) choose(state.shown[at], event.ctrlKey || event.metaKey);
  };
  list.onpointermove = (event) => {
    const at = place(event);
    if (at < 0 || at === state.place) return;
    Object.assign(state, { place: at, moved: true });
    list.querySelectorAll("[role=option]").forEach((line, n) => line.setAttribute("aria-selected", String(n === at)));
    input.setAttribute("aria-activedescendant", `palette-line-${at}`);
  };
  window.addEventListener("keydown", pressed, { capture: true, ...own });
  for (const kind of ["keyup", "keypress"])
    window.addEventListener(kind, (event) => { if (dialog.open) event.stopImmediatePropagation(); }, { capture: true, ...own });
  document.addEventListener(FOUND, arrived, own);
  if (dialog.open) arrived({ detail: state.found });
  return () => {
    state.stop.abort();
    clearTimeout(state.timer);
    if (dialog.open) dialog.close();
  };
}
