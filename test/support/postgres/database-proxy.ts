import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** A way to a database that can break at the worst moments. */
export class DatabaseProxy {
  readonly #server: Server
  readonly #pairs = new Set<{ near: Socket; far: Socket }>()
  /** New connections are refused. */
  closed = false
  /** Nothing gets through, in either direction, and nobody is told: a frozen host. */
  #frozen = false
  /** What the database answers does not get through any more; a statement does. */
  #drops: (() => void) | undefined

  private constructor(socket: string) {
    this.#server = createServer((near) => {
      if (this.closed) {
        near.destroy()
        return
      }
      const far = connect(socket)
      const pair = { near, far }
      this.#pairs.add(pair)
      const end = (): void => {
        this.#pairs.delete(pair)
        near.destroy()
        far.destroy()
      }
      for (const side of [near, far]) side.on('error', end).on('close', end)
      near.on('data', (bytes) => far.write(bytes))
      far.on('data', (bytes) => {
        if (this.#drops === undefined) near.write(bytes)
        else this.#drops()
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
  }

  /** The next answer is dropped, and all connections cut with it: its statement was carried out, and nobody knows. Resolves then. */
  dropNextAnswer(): Promise<void> {
    return new Promise((resolve) => {
      this.#drops = () => {
        this.#drops = undefined
        this.cut()
        resolve()
      }
    })
  }

  async close(): Promise<void> {
    this.closed = true
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #pause({ near, far }: { near: Socket; far: Socket }): void {
    near.pause()
    far.pause()
  }
}
