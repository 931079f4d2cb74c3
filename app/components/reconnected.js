// After the server was away, its new session has no record of this page: no fragment, no button, and no text being typed. The text
// boxes were disabled in the meantime and lost the focus without an event. As soon as the server is back, this script commits their
// contents and requests the whole page. Until the page is drawn, a key or click would be lost, so all are blocked.
const [CONNECTED, AT_REST] = ["CONNECTED", "notRunning"];
const BOXES = '[data-testid="stTextInput"] input, [data-testid="stTextArea"] textarea';
const LOOK_AGAIN = 50;

export default function ({ parentElement, setTriggerValue }) {
  parentElement.berdseyeWatch?.abort();
  const watch = (parentElement.berdseyeWatch = new AbortController());
  const app = document.querySelector('[data-testid="stApp"]');
  const notice = parentElement.querySelector('[role="status"]');
  const isConnected = () => app.dataset.testConnectionState === CONNECTED;
  let [away, redrawing, typedIn] = [!isConnected(), false, null];

  const take = (nothing) => {
    redrawing = nothing;
    notice.hidden = !nothing;
    document.querySelector('[data-testid="stMain"]').inert = nothing;
  };
  const commit = () => {
    if (watch.signal.aborted || !isConnected()) return;
    const boxes = [...document.querySelectorAll(BOXES)];
    if (boxes.some((box) => box.disabled && box.value)) {
      setTimeout(commit, LOOK_AGAIN);
      return;
    }
    redrawing = true;
    for (const box of boxes) {
      box.focus({ preventScroll: true });
      box.blur();
    }
    take(true);
    setTriggerValue("reconnected", true);
  };
  const changed = (changes) => {
    const connected = isConnected();
    if (connected && away) setTimeout(commit, LOOK_AGAIN);
    away = !connected;
    const wasAtWork = changes.some((change) => change.attributeName.endsWith("script-state") && change.oldValue !== AT_REST);
    if (redrawing && connected && wasAtWork && app.dataset.testScriptState === AT_REST) {
      take(false);
      if (typedIn?.isConnected) typedIn.focus({ preventScroll: true });
    }
  };
  const observer = new MutationObserver(changed);
  observer.observe(app, {
    attributeFilter: ["data-test-connection-state", "data-test-script-state"],
    attributeOldValue: true,
  });
  // Remember the box in which the person types until they leave it. A box that becomes disabled has not been left.
  document.addEventListener(
    "focusin",
    ({ target }) => { if (!away && !redrawing) typedIn = target.matches(BOXES) ? target : null; },
    { signal: watch.signal },
  );
  document.addEventListener(
    "focusout",
    ({ target }) => { if (!away && !redrawing && isConnected() && !target.disabled) typedIn = null; },
    { signal: watch.signal },
  );
  window.addEventListener("keydown", (event) => { if (redrawing) event.stopImmediatePropagation(); }, {
    capture: true,
    signal: watch.signal,
  });
  watch.signal.addEventListener("abort", () => { observer.disconnect(); take(false); });
  return () => watch.abort();
}
