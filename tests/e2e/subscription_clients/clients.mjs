// Asks, writes and subscribes with one of the clients that people use, and goes on from its last cursor when the line
// is lost. Prints a line for each run that it hears of. Arguments: the client's name, the index's address, an API key,
// the input of `ingestRun` as JSON, and how many runs to hear of.
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { Client, fetchExchange, subscriptionExchange } from "@urql/core";
import { createClient as createSse } from "graphql-sse";
import { createClient as createWs } from "graphql-ws";
import WebSocket from "ws";

globalThis.WebSocket ??= WebSocket; // as browsers have it: Apollo looks for it when the line is lost
const [name, address, key, input, expected] = process.argv.slice(2);
const http = `${address}/graphql`;
const headers = { Authorization: `Bearer ${key}` };
const QUERY = "query Start { stamp { cursor } }";
const MUTATION = "mutation Add($input: IngestRunInput!) { ingestRun(input: $input) { __typename } }";
const SUBSCRIPTION = `subscription Follow($after: LogCursor) {
  newRuns(after: $after) { __typename ... on LogMessage { cursor position } ... on NewRun { run { id digest } } }
}`;

const overSocket = (options) =>
  createWs({
    url: http.replace(/^http/, "ws"),
    webSocketImpl: WebSocket,
    connectionParams: headers,
    retryAttempts: 0,
    ...options,
  });
const overSse = () => createSse({ url: `${http}/stream`, headers, retryAttempts: 0 });

// Each has `ask(document, variables)`, and `follow(variables, sink)`, which answers how to stop.
const clients = {
  "graphql-ws": () => raw(overSocket({})),
  // Its own retry sends the variables as they are by then: whoever keeps `after` in them current goes on there.
  "graphql-ws-retrying": () => raw(overSocket({ retryAttempts: 100, shouldRetry: () => true, retryWait: () => pause(100) })),
  "graphql-sse": () => raw(overSse()),
  apollo: () => {
    const post = new HttpLink({ uri: http, headers });
    const socket = new GraphQLWsLink(overSocket({}));
    const client = new ApolloClient({
      link: ApolloLink.split(({ operationType }) => operationType === "subscription", socket, post),
      // Without them its cache drops what is asked of an interface.
      cache: new InMemoryCache({ possibleTypes: { LogMessage: ["NewRun", "Progress", "CaughtUp", "Lagged"] } }),
    });
    return {
      ask: async (document, variables) => {
        const parsed = gql(document);
        const writes = parsed.definitions[0].operation === "mutation";
        return (await (writes ? client.mutate({ mutation: parsed, variables }) : client.query({ query: parsed }))).data;
      },
      follow: (variables, sink) => {
        const told = client.subscribe({ query: gql(SUBSCRIPTION), variables: { ...variables } });
        const next = (result) => (result.error ? sink.error(result.error) : sink.next(result));
        const subscription = told.subscribe({ next, error: sink.error, complete: sink.complete });
        return () => subscription.unsubscribe();
      },
    };
  },
  urql: () => {
    const socket = overSocket({});
    const client = new Client({
      url: http,
      fetchOptions: { headers },
      preferGetMethod: false,
      exchanges: [
        subscriptionExchange({
          forwardSubscription: (request) => ({
            subscribe: (sink) => ({ unsubscribe: socket.subscribe({ ...request, query: request.query }, sink) }),
          }),
        }),
        fetchExchange,
      ],
    });
    return {
      ask: async (document, variables) => {
        const send = document === MUTATION ? "mutation" : "query";
        const result = await client[send](document, variables ?? {}).toPromise();
        if (result.error) throw result.error;
        return result.data;
      },
      follow: (variables, sink) => {
        const source = client.subscription(SUBSCRIPTION, { ...variables });
        const subscription = source.subscribe((result) => (result.error ? sink.error(result.error) : sink.next(result)));
        return () => subscription.unsubscribe();
      },
    };
  },
};

function raw(client) {
  const ask = (query, variables) =>
    new Promise((resolve, reject) => {
      let answer;
      const next = ({ data, errors }) => (errors ? reject(new Error(JSON.stringify(errors))) : (answer = data));
      client.subscribe({ query, variables }, { next, error: reject, complete: () => resolve(answer) });
    });
  return { ask, follow: (variables, sink) => client.subscribe({ query: SUBSCRIPTION, variables }, sink) };
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

// Follow until the line is lost.
function once(client, variables, hear) {
  return new Promise((resolve) => {
    const next = ({ data }) => {
      variables.after = data.newRuns.cursor;
      if (data.newRuns.__typename === "NewRun") hear(data.newRuns);
    };
    client.follow(variables, { next, error: resolve, complete: resolve });
  });
}

const client = clients[name]();
const variables = { after: (await client.ask(QUERY)).stamp.cursor };
const written = await client.ask(MUTATION, { input: JSON.parse(input) });
print({ written: written.ingestRun.__typename });
let heard = 0;
const hear = ({ position, run }) => {
  print({ position, digest: run.digest });
  heard += 1;
  // What is heard twice comes within a moment.
  if (heard === Number(expected)) setTimeout(() => process.exit(0), 500);
};
for (;;) {
  await once(client, variables, hear);
  await pause(100);
}
