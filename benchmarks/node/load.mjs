// Load over HTTP/1.1: node load.mjs PORT BODIES.json SECONDS CONNECTIONS prints how many requests were answered a second.
// Bodies are sent in turn, each as a POST to /graphql, one at a time on each connection. Anything but a 200 ends it.
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'

const [port, file, seconds, connections] = process.argv.slice(2)
const bodies = JSON.parse(readFileSync(file, 'utf8'))
const requests = bodies.map((body) =>
  Buffer.from(`POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`),
)
let next = 0
let answered = 0
let until = Infinity

const open = () => {
  const socket = connect(Number(port), '127.0.0.1')
  socket.setNoDelay(true)
  let missing = 0 // bytes of the answer that are still to come
  let head = ''
  const send = () => socket.write(requests[next++ % requests.length])
  socket.on('connect', send)
  socket.on('error', (error) => { console.error(String(error)); process.exit(1) })
  socket.on('data', (chunk) => {
    if (missing === 0) {
      head += chunk.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      if (!head.startsWith('HTTP/1.1 200')) { console.error(head); process.exit(1) }
      missing = Number(/content-length: *(\d+)/i.exec(head)[1]) - (head.length - end - 4)
      head = ''
    } else missing -= chunk.length
    if (missing === 0) {
      answered += 1
      if (performance.now() < until) send()
      else socket.destroy()
    }
  })
}

for (let count = 0; count < Number(connections); count += 1) open()
// What is compiled or read first is not measured.
setTimeout(() => {
  answered = 0
  const start = performance.now()
  until = start + Number(seconds) * 1000
  setTimeout(() => {
    console.log((answered / (performance.now() - start)) * 1000)
    process.exit(0)
  }, Number(seconds) * 1000)
}, 300)
