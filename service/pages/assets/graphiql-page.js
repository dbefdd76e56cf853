// Starts GraphiQL on the page that service/pages/graphiql.py makes.
(() => {
  "use strict";
  const block = document.getElementById("examples");
  const examples = JSON.parse(block.textContent);

  // The name that GraphiQL's dialogs look for before they add a <style> element, which the page's policy would refuse.
  window.__webpack_nonce__ = block.nonce;

  ReactDOM.createRoot(document.getElementById("graphiql")).render(
    React.createElement(GraphiQL, {
      // Subscriptions: give `subscriptionUrl` here too; the build holds a graphql-ws client.
      fetcher: GraphiQL.createFetcher({ url: location.pathname, enableIncrementalDelivery: false }),
      defaultTabs: examples,
      defaultEditorToolsVisibility: "variables",
      inputValueDeprecation: true,
      schemaDescription: true,
      // API keys are typed into the headers: they stay in memory, never in the browser's storage.
      showPersistHeadersSettings: false,
      storage: GraphiQL.createLocalStorage({ namespace: "kernelindex" }),
    }),
  );
})();
