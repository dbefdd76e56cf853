// The form to attest. The key goes into the request's header and nowhere else, but for this tab if that is asked for.
const KEPT = "kernelindex.key";

const form = document.querySelector(".attest form");

function kept() {
  try {
    return sessionStorage.getItem(KEPT) ?? "";
  } catch {
    return ""; // a browser that keeps nothing for us
  }
}

function keep(key) {
  try {
    if (key) sessionStorage.setItem(KEPT, key);
    else sessionStorage.removeItem(KEPT);
  } catch { /* then it is not kept */ }
}

function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function attest(query, input, key) {
  const authorization = key ? { Authorization: `Bearer ${key}` } : {};
  const response = await fetch("/graphql", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json", ...authorization },
    body: JSON.stringify({ query, variables: { input } }),
  });
  const answer = await response.json();
  if (answer.errors) {
    const { message, extensions } = answer.errors[0];
    return { __typename: "Error", message, remedy: extensions?.remedy };
  }
  return answer.data.attestRun;
}

if (form) {
  const outcome = form.querySelector(".outcome");
  const button = form.querySelector("[type=submit]");
  let attempt = randomKey(); // the same for a retry of the same words, so that nothing is said twice
  form.parentElement.hidden = false;
  form.elements.key.value = kept();
  form.elements.keep.checked = Boolean(kept());
  form.addEventListener("input", () => { attempt = randomKey(); });

  const say = (text, bad = false) => {
    outcome.textContent = text;
    outcome.classList.toggle("bad", bad);
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(form));
    const optional = (name) => given[name].trim() || null;
    const key = given.key.trim();
    const value = optional("observedValue");
    const input = {
      run: form.dataset.run,
      type: given.type,
      note: given.note.trim().replaceAll("\r\n", "\n").normalize("NFC"),
      observedValue: value,
      observedUnit: value && optional("observedUnit"),
      environment: optional("environment"),
      evidenceUrl: optional("evidenceUrl"),
      idempotencyKey: attempt,
    };
    button.disabled = true;
    say("Sending …");
    try {
      const answer = await attest(form.dataset.query, input, key);
      if (answer.__typename === "AttestRunSuccess") {
        keep(given.keep ? key : "");
        location.hash = answer.attestation.id.replace("/", "-");
        location.reload();
        return;
      }
      say([answer.message, answer.remedy].filter(Boolean).join("; "), true);
    } catch {
      say("It did not get through. Try again: nothing is said twice.", true);
    }
    button.disabled = false;
  });
}
