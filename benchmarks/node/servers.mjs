// One of the Node servers that ours is measured against: node servers.mjs mercurius|apollo|yoga PORT VIEWS.db
// They have the same data, the same SQL and the same documents as ours; default resolvers pick from these.
import Database from 'better-sqlite3'
import { readFileSync } from 'node:fs'

const [name, port, path] = process.argv.slice(2)
const db = new Database(path, { readonly: true })
const typeDefs = readFileSync(new URL('./schema.graphql', import.meta.url), 'utf8')
const position = db.prepare('SELECT max(position) AS position FROM saves').get().position
const AS_OF = 'from_position <= :position AND (to_position IS NULL OR to_position > :position)'

const prepared = {}
const all = (sql, names) => (prepared[sql] ??= db.prepare(sql)).all({ position, ...names })

const documents = (table, key, keys) => {
  const sql = `SELECT ${key} AS key, doc FROM ${table} WHERE ${key} IN (SELECT value FROM json_each(:keys)) AND ${AS_OF}`
  const found = new Map(all(sql, { keys: JSON.stringify([...new Set(keys.filter(Boolean))]) }).map((row) => [row.key, JSON.parse(row.doc)]))
  return keys.map((one) => found.get(one) ?? null)
}

// What several rows of one query ask for in the same turn is looked up by one statement, as DataLoader does it.
const loaderOf = (context, table, key) => {
  const loaders = (context.loaders ??= {})
  return (loaders[table] ??= {
    kept: new Map(),
    waiting: null,
    load(id) {
      if (id == null) return null
      const known = this.kept.get(id)
      if (known) return known
      if (!this.waiting) {
        this.waiting = []
        process.nextTick(() => {
          const waiting = this.waiting
          this.waiting = null
          const found = documents(table, key, waiting.map((one) => one.id))
          waiting.forEach((one, index) => one.resolve(found[index]))
        })
      }
      const answer = new Promise((resolve) => this.waiting.push({ id, resolve }))
      this.kept.set(id, answer)
      return answer
    },
  })
}

const standings = new Map()
const standingOf = (key) => {
  if (key == null) return null
  if (!standings.has(key)) {
    const sql = `SELECT digest, value, level, observed_key FROM runs WHERE comparison_key = :key AND eligible AND ${AS_OF}`
    const order = (one, other) => one.value - other.value || other.level - one.level || (one.observed_key < other.observed_key ? 1 : one.observed_key > other.observed_key ? -1 : one.digest < other.digest ? -1 : 1)
    const rows = all(sql, { key }).map((row) => ({ ...row, text: row.value, value: Number(row.value) })).sort(order)
    let rank = 0
    rows.forEach((row, index) => { row.rank = index && rows[index - 1].value === row.value ? rank : ++rank })
    rows.forEach((row, index) => { row.tied = rows[index - 1]?.rank === row.rank || rows[index + 1]?.rank === row.rank })
    standings.set(key, { rows, places: new Map(rows.map((row) => [row.digest, row])) })
  }
  return standings.get(key)
}
const link = (table, field, key = 'digest') => (root, _, context) => loaderOf(context, table, key).load(root[field])

const resolvers = {
  Query: {
    run: (_, { id }, context) => loaderOf(context, 'runs', 'digest').load(id),
    ranking: (_, { comparisonKey }, context) => loaderOf(context, 'rankings', 'comparison_key').load(comparisonKey),
    runs: (_, { first, filter }) => {
      const sql = `SELECT recorded_position, doc FROM runs WHERE ${AS_OF} AND observed_key < :to ORDER BY recorded_position DESC LIMIT :limit`
      const rows = all(sql, { to: filter.observedTo, limit: first + 1 })
      return { nodes: rows.slice(0, first).map((row) => JSON.parse(row.doc)), pageInfo: { hasNextPage: rows.length > first } }
    },
  },
  Run: {
    ranking: (run) => {
      const standing = standingOf(run.comparisonKey)
      const placed = standing?.places.get(run.digest)
      return { rank: placed?.rank ?? null, tied: placed?.tied ?? false, groupSize: standing?.rows.length ?? 0 }
    },
    implementation: link('implementations', 'implementation'),
    operation: link('operations', 'operation'),
    protocol: link('conditions', 'protocol'),
    environment: link('conditions', 'environment'),
    source: link('sources', 'source', 'slug'),
  },
  Environment: { hardware: link('hardware', 'hardware', 'slug') },
  Ranking: {
    size: (ranking) => standingOf(ranking.comparisonKey).rows.length,
    operation: link('operations', 'operation'),
    entries: (ranking, { first }) => {
      const { rows } = standingOf(ranking.comparisonKey)
      return { nodes: rows.slice(0, first).map((row) => ({ rank: row.rank, tied: row.tied, value: row.text, run: row.digest })) }
    },
  },
  RankingEntry: { run: link('runs', 'run') },
}

const ready = () => console.log('ready')
if (name === 'mercurius') {
  const { default: fastify } = await import('fastify')
  const { default: mercurius } = await import('mercurius')
  const app = fastify()
  app.register(mercurius, { schema: typeDefs, resolvers, jit: 1 })
  await app.listen({ port: Number(port), host: '127.0.0.1' })
  ready()
} else if (name === 'apollo') {
  const { ApolloServer } = await import('@apollo/server')
  const { startStandaloneServer } = await import('@apollo/server/standalone')
  await startStandaloneServer(new ApolloServer({ typeDefs, resolvers }), { listen: { port: Number(port), host: '127.0.0.1' }, context: async () => ({}) })
  ready()
} else {
  const { createServer } = await import('node:http')
  const { createSchema, createYoga } = await import('graphql-yoga')
  const yoga = createYoga({ schema: createSchema({ typeDefs, resolvers }), logging: false, graphiql: false })
  createServer(yoga).listen(Number(port), '127.0.0.1', ready)
}
