// Copy buttons: shown where scripts run, each copies its own text or that of the element it names.
const WAIT_MS = 2000;

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyOldWay(text); // without HTTPS there is no clipboard but this
  }
}

function copyOldWay(text) {
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  field.className = "unseen";
  document.body.append(field);
  const before = document.activeElement;
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  before?.focus();
  return copied;
}

const said = document.createElement("p");
said.className = "unseen";
said.setAttribute("role", "status");
document.body.append(said);

for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = false;
  const label = button.firstChild;
  const usual = label.textContent;
  let timer;
  button.addEventListener("click", async () => {
    const source = button.dataset.copyFrom && document.getElementById(button.dataset.copyFrom);
    const copied = await copy(source ? source.textContent.trim() : button.dataset.copy);
    label.textContent = copied ? "Copied" : "Not copied";
    said.textContent = copied ? "Copied" : "The browser did not let this page copy";
    clearTimeout(timer);
    timer = setTimeout(() => { label.textContent = usual; said.textContent = ""; }, WAIT_MS);
  });
}
