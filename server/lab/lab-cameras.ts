import type { TestCameraView } from '../../shared/domain/test-cameras.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import {
  firstTestCameraPort,
  smallPictureUrl,
  type TestCameraSpec,
  type TestCameraState,
  testCameraUrl,
} from '../../shared/media/test-camera.ts'
import { lanAddresses } from '../edge/network-addresses.ts'
import { tryPort } from '../edge/listen-error.ts'
import { askLabNode, type LabNodeDependencies } from '../nodes/embedded/lab-node.ts'
import type { Store } from '../store/store.ts'

interface LabCamerasDependencies extends LabNodeDependencies {
  store: Store
  /** Changes the address of a device. */
  outgoing: { update: (userId: string, change: { userAddress: string; assist_address?: string }) => Promise<unknown> }
}

/** Number of ports that are tried for a camera. */
const triedPorts = 200
const lock = 'test_cameras'

type State = Omit<TestCameraState, 'name'>

/** The test cameras of the lab. They are stored, and run in the program of an embedded node. */
export class LabCameras {
  readonly #dependencies: LabCamerasDependencies

  constructor(dependencies: LabCamerasDependencies) {
    this.#dependencies = dependencies
  }

  /** Returns the cameras with their current state, by name. */
  async list(): Promise<TestCameraView[]> {
    const specs = [...this.#dependencies.store.all('test_cameras').values()]
    if (specs.length === 0) return []
    const states = await this.#states()
    return specs
      .toSorted((one, other) => one.name.localeCompare(other.name, 'en', { numeric: true }))
      .map((spec) => viewOf(spec, states?.get(spec.name)))
  }

  /**
   * Stores a camera, which starts at once. A camera of the same name is replaced.
   * @throws RefusalError if its port is in use, or no port is free
   */
  async put(spec: TestCameraSpec): Promise<TestCameraView> {
    const { store } = this.#dependencies
    const known = store.get('test_cameras', spec.name)?.port
    const port = spec.port === 0 ? (known ?? (await this.#freePort(firstTestCameraPort))) : spec.port
    if (port !== known) await this.#assertFree(port)
    const view = await this.#store({ ...spec, port })
    // Another program may have taken the chosen port meanwhile.
    const isTaken = view.problem === 'port' && spec.port === 0 && known === undefined
    return isTaken ? await this.#store({ ...spec, port: await this.#freePort(port + 1) }) : view
  }

  async #store(spec: TestCameraSpec): Promise<TestCameraView> {
    const { store } = this.#dependencies
    await store.transact([lock], (transaction) => transaction.put('test_cameras', spec.name, spec))
    return viewOf(spec, (await this.#states())?.get(spec.name))
  }

  /** Returns the camera of this name, and stores a usual camera if there is none. */
  async ensure(spec: TestCameraSpec): Promise<TestCameraView> {
    const known = this.#dependencies.store.get('test_cameras', spec.name)
    return known === undefined ? await this.put(spec) : viewOf(known, undefined)
  }

  /** @throws RefusalError if there is no such camera */
  async remove(name: string): Promise<void> {
    const { store } = this.#dependencies
    await store.transact([lock], (transaction) => {
      if (store.get('test_cameras', name) === undefined) throw noCamera()
      transaction.delete('test_cameras', name)
    })
  }

  /** Returns the specification of a camera. @throws RefusalError if there is no such camera */
  get(name: string): TestCameraSpec {
    const spec = this.#dependencies.store.get('test_cameras', name)
    if (spec === undefined) throw noCamera()
    return spec
  }

  /**
   * Moves cameras whose port another program has taken since the last run to another port, and updates the devices with
   * their addresses.
   */
  async resume(): Promise<void> {
    const { store, outgoing, logger } = this.#dependencies
    if (store.all('test_cameras').size === 0) return
    const states = await this.#states()
    for (const spec of [...store.all('test_cameras').values()]) {
      if (states?.get(spec.name)?.problem !== 'port') continue
      const { port: former, ...moved } = spec
      await this.put({ ...moved, port: await this.#freePort(firstTestCameraPort) })
      const { port } = this.get(spec.name)
      logger.warn({ camera: spec.name, former, port }, 'test camera moved: its port is in use')
      const here = { ...moved, port }
      for (const { userId, userAddress, options } of [...store.all('devices').values()]) {
        if (userAddress !== testCameraUrl(spec)) continue
        const hasSmall = options.assist_address === smallPictureUrl(spec)
        await outgoing.update(userId, {
          userAddress: testCameraUrl(here),
          ...(hasSmall && { assist_address: smallPictureUrl(here) }),
        })
      }
    }
  }

  /** Returns the state of each camera that the program of a node runs; undefined if no program answers. */
  async #states(): Promise<Map<string, State> | undefined> {
    const answer = await askLabNode(this.#dependencies, (client, signal) => client.request('test_cameras', {}, signal))
    return answer && new Map(answer.cameras.map(({ name, ...state }) => [name, state]))
  }

  /** @throws RefusalError */
  async #freePort(from: number): Promise<number> {
    const taken = new Set(Array.from(this.#dependencies.store.all('test_cameras').values(), ({ port }) => port))
    for (let port = from; port < from + triedPorts; port++)
      if (!taken.has(port) && (await tryPort('test camera', '0.0.0.0', port)) === undefined) return port
    throw new RefusalError(refusal('testCameraPorts'))
  }

  /** @throws RefusalError if a port is in use */
  async #assertFree(port: number): Promise<void> {
    const error = await tryPort('test camera', '0.0.0.0', port)
    if (error !== undefined) throw new RefusalError(error.refusal, { fields: ['port'] })
  }
}

function viewOf(spec: TestCameraSpec, state: State | undefined): TestCameraView {
  const [address] = spec.network ? lanAddresses() : []
  return {
    ...spec,
    url: testCameraUrl(spec),
    assist_url: smallPictureUrl(spec),
    network_url: address === undefined ? '' : testCameraUrl(spec, address),
    problem: state === undefined ? 'node' : state.problem,
    onvif_port: state?.onvif_port ?? 0,
    locked_until: state?.locked_until ?? 0,
    wrong_logins: state?.wrong_logins ?? 0,
    clients: state?.clients ?? [],
  }
}

function noCamera(): RefusalError {
  return new RefusalError(refusal('testCameraNotFound'))
}
