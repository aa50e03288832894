import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** A client's connection to the proxy, and the proxy's connection to the database. */
interface Pair {
  near: Socket
  far: Socket
  /** Drops the next answer. */
  drops: boolean
}

/** A proxy of a database that can break at the worst moments. */
export class DatabaseProxy {
  readonly #server: Server
  readonly #pairs = new Set<Pair>()
  /** Refuses new connections. */
  closed = false
  /** Delays each piece of data on its way to the database by so many milliseconds. */
  delayMs = 0
  /** Holds back all data in both directions without an error, like a frozen host. */
  #frozen = false
  /** Ends of connections that were not passed on to the other side. */
  readonly #unobserved = new Set<() => void>()
  /** Drops the next answer to a statement that holds these bytes; the statement itself gets through. */
  #drops: { asked: string; dropped: () => void } | undefined
  /** Holds back the next statement that holds these bytes, and everything after it. */
  #holds: { asked: string; held: () => void } | undefined

  private constructor(socket: string) {
    this.#server = createServer((near) => {
      if (this.closed) {
        near.destroy()
        return
      }
      const far = connect(socket)
      const pair: Pair = { near, far, drops: false }
      this.#pairs.add(pair)
      const end = (): void => {
        if (this.#frozen) {
          this.#unobserved.add(end)
          return
        }
        this.#pairs.delete(pair)
        near.destroy()
        far.destroy()
      }
      for (const side of [near, far]) side.on('error', end).on('close', end)
      near.on('data', (bytes) => {
        if (this.#holds !== undefined && bytes.includes(this.#holds.asked)) {
          near.pause()
          this.#holds.held()
          return
        }
        if (this.#drops !== undefined && bytes.includes(this.#drops.asked)) pair.drops = true
        if (this.delayMs === 0) far.write(bytes)
        else setTimeout(() => void (far.destroyed || far.write(bytes)), this.delayMs)
      })
      far.on('data', (bytes) => {
        if (pair.drops && this.#drops !== undefined) this.#drops.dropped()
        else near.write(bytes)
      })
      if (this.#frozen) this.#pause(pair)
    })
  }

  static async open(socket: string): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(socket)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  /** Host as written in addresses. */
  get host(): string {
    const address = this.#server.address()
    return `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  }

  /** Cuts all connections. */
  cut(): void {
    for (const { near, far } of this.#pairs) {
      near.destroy()
      far.destroy()
    }
  }

  freeze(frozen: boolean): void {
    this.#frozen = frozen
    for (const pair of this.#pairs) {
      if (frozen) this.#pause(pair)
      else for (const side of [pair.near, pair.far]) side.resume()
    }
    if (frozen) return
    for (const end of this.#unobserved) end()
    this.#unobserved.clear()
  }

  /**
   * Drops the next answer and cuts all connections: the statement has run, and its client does not know. Resolves then.
   * @param asked bytes of the statement, or the name of a prepared one; default: any
   */
  dropNextAnswer(asked = ''): Promise<void> {
    // A statement may already be running.
    if (asked === '') for (const pair of this.#pairs) pair.drops = true
    return new Promise((resolve) => {
      const dropped = (): void => {
        this.#drops = undefined
        this.cut()
        resolve()
      }
      this.#drops = { asked, dropped }
    })
  }

  /** Holds back the next statement with these bytes, and what comes after it on its connection. Resolves then. */
  holdStatement(asked: string): Promise<void> {
    return new Promise((resolve) => {
      const held = (): void => {
        this.#holds = undefined
        resolve()
      }
      this.#holds = { asked, held }
    })
  }

  async close(): Promise<void> {
    this.closed = true
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #pause({ near, far }: Pair): void {
    near.pause()
    far.pause()
  }
}
