import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** A connection to the proxy, and that of its own to the database. */
interface Pair {
  near: Socket
  far: Socket
  /** The next answer is one that is to be dropped. */
  drops: boolean
}

/** A way to a database that can break at the worst moments. */
export class DatabaseProxy {
  readonly #server: Server
  readonly #pairs = new Set<Pair>()
  /** New connections are refused. */
  closed = false
  /** Nothing gets through, in either direction, and nobody is told: a frozen host. */
  #frozen = false
  /** Ends of connections that the other side has not heard of. */
  readonly #unheard = new Set<() => void>()
  /** The next answer to a statement that holds these bytes does not get through; the statement does. */
  #drops: { asked: string; dropped: () => void } | undefined

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
          this.#unheard.add(end)
          return
        }
        this.#pairs.delete(pair)
        near.destroy()
        far.destroy()
      }
      for (const side of [near, far]) side.on('error', end).on('close', end)
      near.on('data', (bytes) => {
        if (this.#drops !== undefined && bytes.includes(this.#drops.asked)) pair.drops = true
        far.write(bytes)
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

  /** As addresses name it. */
  get host(): string {
    const address = this.#server.address()
    return `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  }

  /** Cuts every connection. */
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
    for (const end of this.#unheard) end()
    this.#unheard.clear()
  }

  /**
   * The next answer is dropped, and all connections cut with it: its statement was carried out, and nobody knows. Resolves then.
   * @param asked bytes of the statement that is meant, or the name of a prepared one; left out: any
   */
  dropNextAnswer(asked = ''): Promise<void> {
    // A statement may be under way already.
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
