// A page that is drawn anew must not write over what another tab has written since: each name is written once.
let written = 0;

export default function ({ data }) {
  if (data.at === written) return;
  written = data.at;
  const gone = data.name ? "" : "; max-age=0";
  document.cookie = `${data.cookie}=${encodeURIComponent(data.name)}; path=/; samesite=strict${gone}`;
}
