import type { Socket } from 'node:net'
import { StreamPort } from '../../edge/stream-port.ts'
import { NotProvokedError } from './verdict.ts'

const maxConnections = 64
const path = '/conformance'

/** A camera on this machine that streams. */
export interface OpenCamera {
  /** Address, `rtsp://127.0.0.1:…`. */
  url: string
  close: () => void
}

/**
 * Devices for the rules of the device API: on this machine, where the server is on it, too. For another server, one
 * address of a real camera may be given.
 */
export class Cameras {
  readonly #given: string | undefined
  readonly #openCamera: () => Promise<OpenCamera>
  readonly #isLocal: boolean
  readonly #opened: { close: () => void }[] = []
  readonly #addresses = new Map<string, Promise<string>>()

  /**
   * @param device address of the device API
   * @param given address of a camera that the server can reach; undefined: `openCamera` starts one on this machine
   */
  constructor(device: URL, given: string | undefined, openCamera: () => Promise<OpenCamera>) {
    this.#given = given
    this.#openCamera = openCamera
    this.#isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(device.hostname)
  }

  /** Returns the address of a camera that streams. @throws NotProvokedError */
  streaming(): Promise<string> {
    if (this.#given !== undefined) return Promise.resolve(this.#given)
    return this.#once('streaming', async () => {
      const camera = await this.#openCamera()
      this.#opened.push(camera)
      return camera.url
    })
  }

  /** Returns the address of a device that accepts connections and sends nothing. @throws NotProvokedError */
  silent(): Promise<string> {
    return this.#listen('silent', (socket) => void socket.resume())
  }

  /** Returns the address of a device that answers each request with this RTSP status. @throws NotProvokedError */
  answering(status: string, ...headers: readonly string[]): Promise<string> {
    return this.#listen(status, (socket) => {
      socket.on('data', (chunk: Buffer) => {
        const [, sequence = '1'] = /CSeq: *(\d{1,9})/i.exec(chunk.toString('latin1')) ?? []
        socket.write([`RTSP/1.0 ${status}`, `CSeq: ${sequence}`, ...headers, '', ''].join('\r\n'))
      })
    })
  }

  /** Returns an address on which nothing listens. @throws NotProvokedError */
  async closed(): Promise<string> {
    this.#requireLocal()
    const server = new StreamPort({ name: 'closed device', connections: 1, serve: (socket) => socket.destroy() })
    await server.start('127.0.0.1', 0)
    const address = addressOf(server)
    server.close()
    return address
  }

  close(): void {
    for (const one of this.#opened) one.close()
  }

  #requireLocal(): void {
    if (!this.#isLocal)
      throw new NotProvokedError(
        'needs a device that the server can reach: run this command on its machine, or pass --camera',
      )
  }

  #listen(kind: string, serve: (socket: Socket) => void): Promise<string> {
    return this.#once(kind, async () => {
      const server = new StreamPort({ name: 'conformance', connections: maxConnections, serve })
      await server.start('127.0.0.1', 0)
      this.#opened.push(server)
      return addressOf(server)
    })
  }

  /** Opens a device of one kind once. @throws NotProvokedError */
  async #once(kind: string, open: () => Promise<string>): Promise<string> {
    this.#requireLocal()
    const address = this.#addresses.get(kind) ?? open()
    this.#addresses.set(kind, address)
    return await address
  }
}

function addressOf({ port }: StreamPort): string {
  return `rtsp://127.0.0.1:${port}${path}`
}
