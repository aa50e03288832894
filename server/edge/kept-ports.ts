import type { Server } from 'node:http'
import type { ConnectionTable } from './connection-table.ts'
import type { Serving } from './guards.ts'

/** Ports that listen while nobody owns them: the program changes its role, one owner has let go of them, the next one takes them. No client notices. */
export class KeptPorts {
  readonly #running = new Map<string, Running>()

  keep(running: Running): void {
    this.#running.set(keyOf(running.host, running.port, running.secure), running)
  }

  /** The port that is wanted, where it is kept. */
  take(host: string, port: number, secure: boolean): Running | undefined {
    const key = keyOf(host, port, secure)
    const running = this.#running.get(key)
    this.#running.delete(key)
    return running
  }

  /** Closes those that nobody took. */
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

/** A port that listens. */
export interface Running {
  readonly server: Server
  readonly table: ConnectionTable
  readonly host: string
  readonly port: number
  readonly secure: boolean
  readonly url: string
  /** Handlers of new requests; requests under way stay with their own. */
  readonly serving: Serving
  readonly report: NodeJS.Timeout
  readonly readers: NodeJS.Timeout
}
