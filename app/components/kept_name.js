// Each name is written once: a page that is drawn again must not overwrite what another tab has written since.
let written = 0;

export default function ({ data }) {
  if (data.at === written) return;
  written = data.at;
  const gone = data.name ? "" : "; max-age=0";
  document.cookie = `${data.cookie}=${encodeURIComponent(data.name)}; path=/; samesite=strict${gone}`;
}
