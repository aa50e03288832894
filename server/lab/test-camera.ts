import { parseDeviceAddress } from '../../shared/device-address.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import { LoopbackServer } from '../edge/loopback-server.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { Store } from '../store/store.ts'
import { picturesOf } from './film-packets.ts'
import { TestCameraSession } from './test-camera-session.ts'

/** Path of its address, by which it is recognised. */
const path = '/roomdesk-test-camera'
/** Maximum number of connections: nodes, probes and pictures. */
const maxConnections = 32

/** Needs of the test camera. */
interface TestCameraOptions {
  store: Pick<Store, 'all'>
  outgoing: Pick<OutgoingUsers, 'update'>
  logger: NodeLogger
}

/** A camera without a device: a film over RTSP on 127.0.0.1, for nodes on this machine. It listens from its first use, and again after a restart while a device has its address. */
export class TestCamera {
  readonly #options: TestCameraOptions
  #server: LoopbackServer | undefined
  #starting: Promise<string> | undefined

  constructor(options: TestCameraOptions) {
    this.#options = options
  }

  /**
   * Starts it if need be. Resolves to its address.
   * @throws ListenError
   */
  start(): Promise<string> {
    this.#starting ??= this.#listen(0).catch((error: unknown) => {
      this.#starting = undefined
      throw error
    })
    return this.#starting
  }

  /** Starts it again if devices have its address; they get the new one where its port is taken. Never rejects. */
  async resume(): Promise<void> {
    const { store, outgoing, logger } = this.#options
    const devices = [...store.all('devices').values()].filter(({ userAddress }) => isTestCamera(userAddress))
    const [first] = devices
    if (first === undefined) return
    try {
      this.#starting = this.#listen(parseDeviceAddress(first.userAddress).port).catch(() => this.#listen(0))
      const address = await this.#starting
      for (const { userId, userAddress } of devices)
        if (userAddress !== address) await outgoing.update(userId, { userAddress: address })
    } catch (error) {
      this.#starting = undefined
      logger.warn({ err: error }, 'the test camera could not be started')
    }
  }

  close(): void {
    this.#server?.close()
    this.#server = undefined
    this.#starting = undefined
  }

  async #listen(port: number): Promise<string> {
    const { testFilm } = await import('./test-film.ts')
    const pictures = picturesOf(Buffer.from(testFilm, 'base64'))
    const server = new LoopbackServer({
      name: 'test camera',
      connections: maxConnections,
      serve: (socket) => void new TestCameraSession(socket, pictures),
    })
    await server.start(port)
    this.#server = server
    return `rtsp://127.0.0.1:${server.port}${path}`
  }
}

/** Tells whether an address is that of the test camera. */
function isTestCamera(address: string): boolean {
  const parsed = URL.parse(address)
  return parsed?.hostname === '127.0.0.1' && parsed.pathname === path
}
