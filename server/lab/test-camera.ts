import { parseDeviceAddress } from '../../shared/device-address.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import { StreamPort } from '../edge/stream-port.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { Change, Store } from '../store/store.ts'
import { picturesOf } from './film-packets.ts'
import { TestCameraSession } from './test-camera-session.ts'

/** Path of the test camera's address, which identifies the camera. */
const path = '/roomdesk-test-camera'
/** Maximum number of connections: nodes, probes and pictures. */
const maxConnections = 32

interface TestCameraOptions {
  store: Pick<Store, 'all' | 'get' | 'onChange'>
  outgoing: { update: (userId: string, change: { userAddress: string }) => Promise<unknown> }
  logger: NodeLogger
}

/**
 * A camera without a device: serves a film over RTSP on 127.0.0.1, for nodes on this machine. The port is open while a
 * device has the camera's address; devices in the trash do not count.
 */
export class TestCamera {
  readonly #options: TestCameraOptions
  #server: StreamPort | undefined
  /** Ids of devices with the camera's address. */
  readonly #devices = new Set<string>()
  /** Number of calls that are about to create a device with the camera's address. */
  #awaited = 0
  #queue: Promise<unknown> = Promise.resolve()
  #stopFollowing = (): void => {}

  constructor(options: TestCameraOptions) {
    this.#options = options
  }

  /**
   * Opens the port while `work` creates a device with the camera's address.
   * @throws ListenError; errors of `work`
   */
  async lend<T>(work: (address: string) => Promise<T>): Promise<T> {
    this.#awaited += 1
    try {
      return await work(await this.#inTurn(() => this.#listen(0)))
    } finally {
      this.#awaited -= 1
      this.#closeUnused()
    }
  }

  /**
   * Follows the devices: opens the port while any device has the camera's address, and closes it otherwise. Resolves
   * once the port is open for the existing devices.
   */
  async resume(): Promise<void> {
    const { store } = this.#options
    for (const { userId, userAddress } of store.all('devices').values())
      if (isTestCamera(userAddress)) this.#devices.add(userId)
    this.#stopFollowing = store.onChange((changes) => this.#follow(changes), ['devices'])
    if (this.#devices.size > 0) await this.#serve()
  }

  close(): void {
    this.#stopFollowing()
    this.#devices.clear()
    this.#server?.close()
    this.#server = undefined
  }

  #follow(changes: readonly Change[]): void {
    let isNew = false
    for (const change of changes) {
      if (change.collection !== 'devices') continue
      if (change.value !== undefined && isTestCamera(change.value.userAddress)) {
        isNew ||= !this.#devices.has(change.key)
        this.#devices.add(change.key)
      } else this.#devices.delete(change.key)
    }
    this.#closeUnused()
    if (isNew) mustNotFail(this.#serve())
  }

  /** Opens the port, and updates devices with a former address. Never rejects. */
  async #serve(): Promise<void> {
    const { store, outgoing, logger } = this.#options
    try {
      await this.#inTurn(async () => {
        const devices = [...this.#devices].flatMap((userId) => store.get('devices', userId) ?? [])
        const [first] = devices
        if (first === undefined) return
        const { port } = parseDeviceAddress(first.userAddress)
        // If the former port is in use, any free port is used.
        const address = await this.#listen(port).catch(() => this.#listen(0))
        for (const { userId, userAddress } of devices)
          if (userAddress !== address) await outgoing.update(userId, { userAddress: address })
      })
    } catch (error) {
      logger.warn({ err: error }, 'the test camera could not be started')
    }
    this.#closeUnused()
  }

  #closeUnused(): void {
    if (this.#devices.size > 0 || this.#awaited > 0) return
    this.#server?.close()
    this.#server = undefined
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work)
    // The caller receives the error through `turn`.
    this.#queue = turn.catch(() => undefined)
    return turn
  }

  /**
   * Opens the port unless it is open. Resolves to the camera's address.
   * @throws ListenError
   */
  async #listen(port: number): Promise<string> {
    if (this.#server !== undefined) return addressOf(this.#server)
    const { testFilm } = await import('./test-film.ts')
    const pictures = picturesOf(Buffer.from(testFilm, 'base64'))
    const server = new StreamPort({
      name: 'test camera',
      connections: maxConnections,
      serve: (socket) => void new TestCameraSession(socket, pictures),
    })
    await server.start('127.0.0.1', port)
    this.#server = server
    return addressOf(server)
  }
}

function addressOf({ port }: StreamPort): string {
  return `rtsp://127.0.0.1:${port}${path}`
}

/** Whether an address belongs to the test camera. */
function isTestCamera(address: string): boolean {
  const parsed = URL.parse(address)
  return parsed?.hostname === '127.0.0.1' && parsed.pathname === path
}
