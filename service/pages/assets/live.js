// The list of the latest runs, live: the API's stream says when there is more, from the page's own cursor on, and what is
// new is taken from the page as the server then writes it.
const BETWEEN_MS = 2000;
const RETRY_MS = 5000;

const section = document.querySelector("[data-live]");
const controls = section.querySelector(".live");
const button = controls.querySelector("button");
const status = controls.querySelector("[role=status]");

let cursor = section.dataset.live;
let paused = false;
let stream = null;
let told = 0; // the position up to which the stream told of runs
let shown = 0; // the position from which on the list shows them
let busy = false;
let added = 0;

function listen() {
  stream?.close();
  stream = null;
  if (paused || document.hidden) return; // nothing is missed: it goes on from the cursor
  const parameters = new URLSearchParams({ query: section.dataset.query, variables: JSON.stringify({ after: cursor }) });
  const opened = stream = new EventSource(`/graphql/stream?${parameters}`);
  opened.addEventListener("next", ({ data }) => hear(JSON.parse(data)));
  opened.addEventListener("error", () => {
    // A connection that broke is opened again by the browser, from the last event on; one that was refused is not.
    if (opened.readyState === EventSource.CLOSED && stream === opened) setTimeout(listen, RETRY_MS);
  });
}

function hear({ data, errors }) {
  if (errors) {
    stream.close();
    button.hidden = true;
    status.textContent = "New runs don't appear any more: load the page again.";
    return;
  }
  const { __typename: kind, cursor: reached, position } = data.newRuns;
  cursor = reached;
  if (kind === "NewRun" || kind === "Lagged") told = Number(position);
  if (kind === "Lagged") listen();
  refresh();
}

async function refresh() {
  if (busy || paused || shown >= told) return;
  busy = true;
  let wait = BETWEEN_MS;
  try {
    const wanted = told;
    const fresh = await latest(wanted);
    if (!paused) {
      show(fresh);
      shown = wanted;
    }
  } catch {
    wait = RETRY_MS;
  }
  setTimeout(() => { busy = false; refresh(); }, wait);
}

async function latest(position) {
  const headers = { Accept: "text/html", "X-KernelIndex-Min-Position": String(position) };
  const response = await fetch(location.pathname, { headers });
  if (!response.ok) throw new Error(response.statusText);
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

const rowsOf = (list) => [...list.querySelectorAll("tbody tr")];
const runOf = (row) => row.querySelector("th a").title;

function show(fresh) {
  const list = section.querySelector("#runs");
  const freshList = fresh.querySelector("#runs");
  const known = new Map(rowsOf(list).map((row) => [runOf(row), row]));
  const rows = rowsOf(freshList);
  const news = rows.filter((row) => !known.has(runOf(row)));
  news.forEach((row) => row.classList.add("new"));
  const body = list.querySelector("tbody");
  if (body) {
    // Rows that are there stay what they are, so that nobody loses their place in them.
    body.prepend(...news);
    const kept = new Set(rows.map(runOf));
    known.forEach((row, run) => { if (!kept.has(run) && !row.contains(document.activeElement)) row.remove(); });
    list.querySelector(".more")?.remove();
    const more = freshList.querySelector(".more");
    if (more) list.append(more);
  } else {
    list.replaceChildren(...freshList.childNodes);
  }
  for (const selector of ["#latest", "footer.site"]) {
    document.querySelector(selector).replaceChildren(...fresh.querySelector(selector).childNodes);
  }
  added += news.length;
  if (news.length) status.textContent = `${added} new ${added === 1 ? "run" : "runs"} since this page was opened.`;
}

button.addEventListener("click", () => {
  paused = !paused;
  button.textContent = paused ? "Resume" : "Pause";
  status.textContent = paused ? "Paused: new runs wait." : "New runs appear by themselves.";
  listen();
  refresh();
});
document.addEventListener("visibilitychange", listen);
controls.hidden = false;
listen();
