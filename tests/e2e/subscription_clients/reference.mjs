// The server of the graphql-ws package, to hold ours against: node reference.mjs prints its port when it listens.
import { buildSchema } from "graphql";
import { useServer } from "graphql-ws/use/ws";
import { createServer } from "node:http";
import { WebSocketServer } from "ws";

const schema = buildSchema(`
  type Query { ready: Boolean! }
  type Subscription { ticks: Int! silence: Int! }
`);
async function* ticks() {
  yield { ticks: 1 };
}
async function* silence() {
  await new Promise(() => {});
}
const roots = { query: { ready: true }, subscription: { ticks, silence } };
const server = createServer();
const sockets = new WebSocketServer({ server, path: "/graphql" });
useServer({ schema, roots, connectionInitWaitTimeout: 2000 }, sockets, 0);
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
