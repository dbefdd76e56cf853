// Starts GraphiQL on the page that service/pages/graphiql.py makes.
(() => {
  "use strict";
  const h = React.createElement;
  const block = document.getElementById("examples");
  const examples = JSON.parse(block.textContent);

  // Where GraphiQL's dialogs look for a nonce before they add a <style>, which the page's policy would refuse without.
  window.__webpack_nonce__ = block.nonce;

  // API keys are typed into the headers, and GraphiQL's history would keep them: headers stay in memory.
  function storageWithoutHeaders() {
    try {
      localStorage.getItem("");
    } catch {
      return null; // a browser that keeps nothing for us
    }
    const storage = GraphiQL.createLocalStorage({ namespace: "kernelindex" });
    const keep = storage.setItem;
    const clean = (text) => JSON.stringify(JSON.parse(text, (name, value) => (name === "headers" ? null : value)));
    const holdsHeaders = /:(?:queries|favorites|tabState)$/;
    storage.setItem = (key, text) => keep(key, holdsHeaders.test(key) ? clean(text) : text);
    return storage;
  }

  function Examples() {
    const editors = GraphiQL.React.useEditorContext({ nonNull: true });
    const open = ({ query, variables }) => {
      ReactDOM.flushSync(() => editors.addTab());
      editors.queryEditor.setValue(query);
      editors.variableEditor.setValue(variables);
    };
    const title = ({ query }) => query.slice(1, query.indexOf("\n")).trim();
    const button = (example) => h("button", { type: "button", onClick: () => open(example) }, title(example));
    return h(
      "section",
      { className: "examples", "aria-label": "Examples" },
      h("div", { className: "graphiql-doc-explorer-title" }, "Examples"),
      h("ul", null, ...examples.map((example) => h("li", null, button(example)))),
    );
  }

  const BookmarkIcon = () =>
    h("svg", { viewBox: "0 0 14 14", fill: "none", stroke: "currentColor", strokeWidth: 1.2, "aria-hidden": true },
      h("path", { d: "M3.5 1.5h7v11L7 9.7l-3.5 2.8z" }));

  const storage = storageWithoutHeaders();
  const firstVisit = !storage?.getItem("graphiql:tabState");
  const props = {
    fetcher: GraphiQL.createFetcher({
      url: location.pathname,
      subscriptionUrl: new URL(location.pathname, location.href.replace(/^http/, "ws")).href,
      enableIncrementalDelivery: false,
    }),
    storage,
    showPersistHeadersSettings: false,
    defaultTabs: examples,
    // GraphiQL leaves the first tab's variables out when it starts. Given later, they would replace the visitor's own.
    variables: firstVisit ? examples[0].variables : undefined,
    defaultEditorToolsVisibility: "variables",
    inputValueDeprecation: true,
    schemaDescription: true,
    plugins: [{ title: "Examples", icon: BookmarkIcon, content: Examples }],
  };
  const logo = h(GraphiQL.Logo, null, h("a", { href: "/" }, "KernelIndex"));
  ReactDOM.createRoot(document.getElementById("graphiql")).render(h(GraphiQL, props, logo));
})();
