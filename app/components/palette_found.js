// The half of the palette that asks the server: it passes on what is typed, and answers with what was found. The two halves talk by
// events, because this one belongs to a fragment that is drawn alone, and the palette stays open meanwhile.
export default function ({ data, parentElement, setStateValue }) {
  parentElement.berdseyeFound?.abort();
  const stop = (parentElement.berdseyeFound = new AbortController());
  const asked = ({ detail }) => {
    if (detail === data.words) answer();
    else setStateValue("words", detail);
  };
  const answer = () => document.dispatchEvent(new CustomEvent("berdseye-found", { detail: data }));
  document.addEventListener("berdseye-find", asked, { signal: stop.signal });
  answer();
  return () => stop.abort();
}
