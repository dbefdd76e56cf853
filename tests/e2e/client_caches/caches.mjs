// Reads a run as it is now and as it stood at a position through the caches of Apollo Client and Relay, in both orders,
// and prints as JSON what each cache then holds: the two readings, the same after each was fetched again by the node's id,
// and the ids of all runs.
import { ApolloClient, HttpLink, InMemoryCache, gql } from "@apollo/client";
import relay from "relay-runtime";
import NodeQuery from "./__generated__/cachedNodeQuery.graphql.js";
import NowQuery from "./__generated__/cachedNowQuery.graphql.js";
import ThenQuery from "./__generated__/cachedThenQuery.graphql.js";

const [uri, id, position] = process.argv.slice(2);
const now = [NowQuery, { id }];
const then = [ThenQuery, { id, position: Number(position) }];

function apollo() {
  const client = new ApolloClient({ cache: new InMemoryCache(), link: new HttpLink({ uri }) });
  const parsed = (artifact) => gql(artifact.params.text);
  return {
    fetch: ([artifact, variables]) =>
      client.query({ query: parsed(artifact), variables, fetchPolicy: "network-only" }).then(({ data }) => data),
    held: ([artifact, variables]) => client.readQuery({ query: parsed(artifact), variables }),
    ids: () => Object.values(client.extract()).filter((one) => one.__typename === "Run").map((one) => one.id),
  };
}

function relayed() {
  const { Environment, Network, RecordSource, Store, createOperationDescriptor, fetchQuery } = relay;
  const headers = { "content-type": "application/json", accept: "application/graphql-response+json" };
  const send = async ({ text: query }, variables) =>
    (await fetch(uri, { method: "POST", headers, body: JSON.stringify({ query, variables }) })).json();
  const environment = new Environment({ network: Network.create(send), store: new Store(new RecordSource()) });
  return {
    fetch: (query) => {
      // What is not retained may be collected.
      environment.retain(createOperationDescriptor(...query));
      return fetchQuery(environment, ...query).toPromise();
    },
    held: (query) => environment.lookup(createOperationDescriptor(...query).fragment).data,
    ids: () =>
      Object.values(environment.getStore().getSource().toJSON())
        .filter((one) => one.__typename === "Run")
        .map((one) => one.id),
  };
}

const results = [];
for (const [client, make] of Object.entries({ apollo, relay: relayed })) {
  for (const order of [[now, then], [then, now]]) {
    const cache = make();
    for (const query of order) await cache.fetch(query);
    const read = () => ({ now: cache.held(now).run, then: cache.held(then).at.run });
    const first = read();
    // Relay fetches a node again by its id, which must not write over the other reading either.
    for (const { id } of Object.values(first)) await cache.fetch([NodeQuery, { id }]);
    results.push({ client, first: order[0] === now ? "now" : "then", readings: first, again: read(), ids: cache.ids() });
  }
}
process.stdout.write(JSON.stringify(results));
