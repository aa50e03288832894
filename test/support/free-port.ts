import { once } from 'node:events'
import { createServer } from 'node:net'

/** Finds distinct ports of 127.0.0.1 that were free a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const addresses = servers.map((server) => server.address())
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return addresses.map((address) => (typeof address === 'object' && address !== null ? address.port : 0))
}

/** Finds a port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1)
  return port
}
