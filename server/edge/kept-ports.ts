import type { Server } from 'node:http'
import type { ConnectionTable } from './connection-table.ts'
import type { Serving } from './guards.ts'

/**
 * Listening ports without an owner, during a change of the program's role: the previous owner has released them, and
 * the next owner has not taken them yet. Connections stay open.
 */
export class KeptPorts {
  readonly #running = new Map<string, Running>()

  keep(running: Running): void {
    this.#running.set(keyOf(running.host, running.port, running.secure), running)
  }

  /** Removes and returns a kept port; undefined: not kept. */
  take(host: string, port: number, secure: boolean): Running | undefined {
    const key = keyOf(host, port, secure)
    const running = this.#running.get(key)
    this.#running.delete(key)
    return running
  }

  /** Closes the ports that were not taken. */
  async close(): Promise<void> {
    const left = [...this.#running.values()]
    this.#running.clear()
    await Promise.all(left.map(closeNow))
  }
}

function keyOf(host: string, port: number, secure: boolean): string {
  return `${secure ? 'https' : 'http'} ${host} ${port}`
}

async function closeNow({ server, table, report, readers }: Running): Promise<void> {
  clearInterval(report)
  clearInterval(readers)
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  for (const { transport } of table) transport.destroy()
  await closed
}

export interface Running {
  readonly server: Server
  readonly table: ConnectionTable
  readonly host: string
  readonly port: number
  readonly secure: boolean
  readonly url: string
  /** Handlers of new requests; requests under way keep their handlers. */
  readonly serving: Serving
  readonly report: NodeJS.Timeout
  readonly readers: NodeJS.Timeout
}
