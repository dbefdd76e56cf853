// The server of the graphql-ws package that our fan-out is measured against: node graphql_ws.mjs PORT
// It publishes what it is POSTed, one message of our own subscription a line, and executes it for each subscriber.
import { buildSchema } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import { createServer } from 'node:http'
import { WebSocketServer } from 'ws'

const schema = buildSchema(`
  interface LogMessage { cursor: String! position: Int! }
  union RunMessage = NewRun | CaughtUp
  type CaughtUp implements LogMessage { cursor: String! position: Int! }
  type NewRun implements LogMessage { cursor: String! position: Int! run: Run! }
  type Run { shortId: String! title: String! status: String! primary: Measurement ranking: RunRanking! permalink: String! }
  type Measurement { formatted: String }
  type RunRanking { rank: Int groupSize: Int! }
  type Query { ready: Boolean! }
  type Subscription { newRuns: RunMessage! }
`)

const subscribers = new Set()

// Messages of one subscriber, in order; graphql-js executes the selection for each that comes out.
class Messages {
  waiting = [{ __typename: 'CaughtUp', cursor: 'begin', position: 0 }]
  wake = null
  push(message) {
    this.waiting.push(message)
    this.wake?.()
  }
  async next() {
    while (this.waiting.length === 0) await new Promise((resolve) => (this.wake = resolve))
    return { value: { newRuns: this.waiting.shift() }, done: false }
  }
  async return() {
    subscribers.delete(this)
    return { value: undefined, done: true }
  }
  [Symbol.asyncIterator]() {
    return this
  }
}

const rootValue = {
  newRuns: () => {
    const messages = new Messages()
    subscribers.add(messages)
    return messages
  },
}

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  for (const line of body.split('\n').filter(Boolean)) {
    const message = JSON.parse(line)
    for (const one of subscribers) one.push(message)
  }
  response.end()
})
// The listeners only count: they would answer no ping.
const keepAlive = 0
useServer({ schema, roots: { subscription: rootValue } }, new WebSocketServer({ server, path: '/graphql', perMessageDeflate: false }), keepAlive)
server.listen({ port: Number(process.argv[2]), host: '127.0.0.1', backlog: 2048 })
