import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/** Below the ports that systems give to servers on port 0 and to outgoing connections: nobody takes one by chance. */
const first = 15_000
const last = 32_000

/** Finds distinct ports of 127.0.0.1 that were free a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const servers: Server[] = []
  const ports: number[] = []
  while (ports.length < count) {
    const port = randomInt(first, last)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch {
      // Another server has the port.
      continue
    }
    servers.push(server)
    ports.push(port)
  }
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

/** Finds a port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1)
  return port
}
