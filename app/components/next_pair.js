// The pair that comes next, shown the moment a verdict is given: the card's own elements with other texts, above the card until the
// server has stored the verdict and drawn the page. Whatever the server draws then is what stays, also if it refused the verdict.
const APP = '[data-testid="stApp"]';
const CONNECTED = "CONNECTED", PATIENCE = 30000;
const typing = (event) => event.composedPath().some((e) => e.matches?.("input, textarea, select, [contenteditable=true]"));

function copied(card, next) {
  const copy = document.createElement("div");
  copy.className = "berdseye-next-pair";
  copy.setAttribute("aria-hidden", "true");
  copy.append(...[...card.children].map((child) => child.cloneNode(true)));
  const [question, perspective, title] = [...copy.querySelectorAll(".stMarkdown")].map((one) => one.querySelector("p, h5"));
  const passage = copy.querySelector(".berdseye-passage");
  const source = copy.querySelector('[data-testid="stCaptionContainer"] p');
  if (![question, perspective, title, passage, source].every(Boolean)) return null;
  const inner = (element) => (element.firstElementChild ? inner(element.firstElementChild) : element);
  question.lastChild.textContent = ` ${next.question}`;
  inner(perspective).textContent = next.perspective;
  inner(title).textContent = next.title;
  passage.textContent = next.passage;
  passage.className = "berdseye-passage-next";
  source.textContent = next.source;
  for (const element of copy.querySelectorAll("*")) {
    element.removeAttribute("id");
    element.removeAttribute("data-testid");
    element.classList.remove(...[...element.classList].filter((name) => name.startsWith("st-key-")));
  }
  return copy;
}

// What was shown after another pair is no longer what comes next, even if no run of the server was seen in between.
function uncover(pair) {
  for (const copy of document.querySelectorAll(".berdseye-next-pair")) if (copy.berdseyeAfter !== pair) copy.remove();
}

export default function ({ data, parentElement }) {
  const app = document.querySelector(APP);
  const runs = () => app.dataset.testScriptState !== "notRunning";
  const show = () => {
    const card = document.querySelector(".st-key-pair-card");
    const isOfThis = card?.querySelector(".berdseye-passage")?.berdseye?.pair === data.pair;
    if (!data.next || !isOfThis || app.dataset.testConnectionState !== CONNECTED) return;
    if (card.querySelector(".berdseye-next-pair")) return;
    const copy = copied(card, data.next);
    if (!copy) return;
    copy.berdseyeAfter = data.pair;
    copy.style.backgroundColor = getComputedStyle(app).backgroundColor;
    for (const name of ["padding", "gap"]) copy.style[name] = getComputedStyle(card)[name];
    card.scrollTop = 0;
    card.append(copy);
    const began = performance.now();
    // A run may begin and end between two frames: whether one was seen is noted at each change of the state.
    let ran = false;
    const watch = new MutationObserver(() => (ran ||= runs()));
    watch.observe(app, { attributeFilter: ["data-test-script-state"] });
    const step = () => {
      ran ||= runs();
      if (!copy.isConnected || (ran && !runs()) || performance.now() - began > PATIENCE) {
        copy.remove();
        watch.disconnect();
      } else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  };
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || typing(event)) return;
    if (!data.keys.includes(event.key.toLowerCase())) return;
    if (document.querySelector('[data-testid="stDialog"], .berdseye-passage.choosing')) return;
    show();
  };
  const clicked = (event) => {
    const button = event.target.closest?.(".st-key-verdicts button");
    if (button && data.buttons.some((name) => button.closest(`[class*="st-key-${name}"]`))) show();
  };
  uncover(data.pair);
  parentElement.berdseyeNextPair?.abort();
  const listening = (parentElement.berdseyeNextPair = new AbortController());
  window.addEventListener("keydown", pressed, { capture: true, signal: listening.signal });
  window.addEventListener("click", clicked, { capture: true, signal: listening.signal });
  return () => listening.abort();
}
