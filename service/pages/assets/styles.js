// Citations in the style of a journal or society, asked of the API.
const section = document.getElementById("cite");
const form = section.querySelector("form.styles");
const figure = form.querySelector("figure");
const outcome = form.querySelector(".outcome");
const select = form.elements.style;
form.hidden = false;
form.addEventListener("submit", (event) => event.preventDefault());

async function ask(style) {
  const variables = { id: section.dataset.run, position: Number(section.dataset.position), style };
  const response = await fetch("/graphql", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify({ query: form.dataset.query, variables }),
  });
  const answer = await response.json();
  if (answer.errors) throw new Error(answer.errors[0].message);
  return answer.data.at.run.citation.content.trim();
}

select.addEventListener("change", async () => {
  const { value: style, selectedOptions: [option] } = select;
  outcome.textContent = "";
  figure.hidden = true;
  if (!style) return;
  try {
    const content = await ask(style);
    if (select.value !== style) return; // another one was chosen meanwhile
    figure.querySelector("span").textContent = option.textContent;
    figure.querySelector("p").textContent = content;
    figure.hidden = false;
  } catch (error) {
    outcome.textContent = `Not written: ${error.message}`;
  }
});
