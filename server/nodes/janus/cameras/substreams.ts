import type { CameraSource } from '../../../../shared/device-address.ts'
import { inBackground, mustNotFail } from '../../../../shared/unawaited.ts'
import { NodeError } from '../../port/media-node-port.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import type { JanusSession } from '../wire/janus-session.ts'
import type { SmallPicture, SmallPictures } from '../people/small-pictures.ts'
import { Subscription, type SubscriptionRequests } from '../people/subscription.ts'
import type { Bridge, BridgeTable } from './bridge-table.ts'
import type { Camera, MountpointRequests } from './mountpoint-requests.ts'
import type { Mountpoints } from './mountpoints.ts'
import { isStopped } from './bridge-connection.ts'
export interface SubstreamsOptions {
  bridges: BridgeTable
  mountpoints: Mountpoints
  requests: MountpointRequests
  /** Returns the session in which mountpoints are created; undefined while the node is not connected. */
  session: () => JanusSession | undefined
  camera: (source: CameraSource) => Camera
  logger: NodeLogger
  /** Time without media after which a substream is ended, in milliseconds. */
  stallMs: number
  /** Time for which a stream is still pulled after its last viewer left, in milliseconds. */
  lingerMs?: number
}

/** A viewer of a second stream. */
interface View {
  bridge: Bridge
  camera: Camera
  /** Called when the substream has ended. */
  ended: () => void
}

const defaultLingerMs = 5_000
/** Time to wait for a second stream before the main stream is used instead, in milliseconds. */
const answerMs = 3_000
/** Time after a failure until the second stream is requested again, in milliseconds. */
const againMs = 30_000
/** Interval of the checks for missing media, in milliseconds. */
const lookMs = 2_000
const never = new AbortController().signal

/**
 * The second, smaller streams of a node's cameras. A room contains only the main stream. A viewer that shows a camera
 * small receives its second stream directly from a mountpoint. A second stream is pulled while it has viewers, and for
 * `lingerMs` afterwards.
 */
export class Substreams implements SmallPictures {
  readonly #options: SubstreamsOptions
  readonly #views = new Set<View>()
  /** Cameras that are released when their timer fires. */
  readonly #lingering = new Map<NodeJS.Timeout, Camera>()
  /** Time until which a second stream is not requested, on the clock of `performance.now()`. */
  readonly #refused = new WeakMap<Bridge, number>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: SubstreamsOptions) {
    this.#options = options
  }

  async open(
    { roomId, userId }: { roomId: string; userId: string },
    owner: JanusSession,
    ended: () => void,
    signal: AbortSignal,
  ): Promise<SmallPicture | undefined> {
    const bridge = this.#options.bridges.get(roomId, userId)
    const session = this.#options.session()
    if (bridge?.state !== 'up' || session === undefined || (this.#refused.get(bridge) ?? 0) > performance.now())
      return undefined
    const camera = this.#cameraOf(bridge)
    if (camera === undefined) return undefined
    try {
      return await this.#open({ bridge, camera, ended }, session, owner, signal)
    } catch (error) {
      signal.throwIfAborted()
      this.#refused.set(bridge, performance.now() + againMs)
      this.#options.logger.debug({ err: error, user: userId }, 'the substream of a camera is unavailable')
      return undefined
    }
  }

  async goOn(
    { roomId, userId }: { roomId: string; userId: string },
    { owner, handle, answer }: { owner: JanusSession; handle: number; answer: string },
    ended: () => void,
    signal: AbortSignal,
  ): Promise<SmallPicture | undefined> {
    const bridge = this.#options.bridges.get(roomId, userId)
    const session = this.#options.session()
    const camera = bridge?.state === 'up' ? this.#cameraOf(bridge) : undefined
    if (bridge === undefined || session === undefined || camera === undefined) return undefined
    const view: View = { bridge, camera, ended }
    const { mountpoints, requests, logger } = this.#options
    mountpoints.keep(camera.id)
    try {
      // Rejects if the mountpoint does not exist.
      if ((await requests.media(session, camera.id)).length === 0) throw new NodeError('it carries nothing')
      signal.throwIfAborted()
      const watched = watchedMountpoint(camera)
      const adopted = owner.adopt(handle, watched.plugin)
      const subscription = Subscription.goOn(adopted, watched, { answer, watched: {} }, () => this.#end(view))
      this.#views.add(view)
      this.#look()
      return { subscription, letGo: () => this.#letGo(view) }
    } catch (error) {
      await this.#release(camera)
      signal.throwIfAborted()
      logger.debug({ err: error, user: userId }, 'could not resume the substream of a camera')
      return undefined
    }
  }

  /** Ends the substream of a camera that left the room, and notifies its viewers. */
  bridgeEnded(bridge: Bridge): void {
    for (const view of [...this.#views]) if (view.bridge === bridge) this.#end(view)
  }

  /** Returns the ids of the second mountpoints of all cameras in rooms, whether they have viewers or not. */
  mountpoints(): Set<string> {
    return new Set(Array.from(this.#options.bridges, (bridge) => this.#cameraOf(bridge)?.id ?? ''))
  }

  /** Leaves watched substreams to the next controller, and releases the other substreams. Never rejects. */
  async leave(): Promise<void> {
    this.#views.clear()
    clearInterval(this.#timer)
    await this.endAll()
  }

  /** Ends all substreams, notifies their viewers, and resolves once nothing is pulled. Never rejects. */
  async endAll(): Promise<void> {
    for (const view of [...this.#views]) this.#end(view)
    const lingering = [...this.#lingering]
    this.#lingering.clear()
    for (const [timer] of lingering) clearTimeout(timer)
    await Promise.all(lingering.map(([, camera]) => this.#release(camera)))
  }

  #cameraOf({ device }: Bridge): Camera | undefined {
    if (device?.assistAddress === undefined) return undefined
    return this.#options.camera({ address: device.assistAddress, login: device.login })
  }

  /** @throws DeviceJoinError, NodeError with the reason why the stream is unavailable; the signal's reason */
  async #open(view: View, session: JanusSession, owner: JanusSession, signal: AbortSignal): Promise<SmallPicture> {
    const { mountpoints, bridges } = this.#options
    const { camera, bridge } = view
    await mountpoints.hold(session, camera, AbortSignal.any([signal, AbortSignal.timeout(answerMs)]))
    try {
      await this.#assertSound(session, camera.id, bridge.record.mountpoint)
      const subscription = await Subscription.open(owner, watchedMountpoint(camera), () => this.#end(view), signal)
      this.#views.add(view)
      if (!bridges.has(bridge) || bridge.state !== 'up') {
        this.#views.delete(view)
        // If the request fails, the subscription ends with its session.
        subscription.end(never).catch(() => {})
        throw new NodeError('its camera has left the room')
      }
      this.#look()
      return { subscription, letGo: () => this.#letGo(view) }
    } catch (error) {
      await this.#release(camera)
      throw error
    }
  }

  /**
   * Checks that the substream has audio if the main stream has audio.
   * @throws NodeError
   */
  async #assertSound(session: JanusSession, second: string, first: string): Promise<void> {
    const { requests } = this.#options
    const [small, large] = await Promise.all([requests.media(session, second), requests.media(session, first)])
    const sounds = (media: typeof large): boolean => media.some(({ type }) => type === 'audio')
    if (sounds(large) && !sounds(small)) throw new NodeError('it has no sound, and the large one has')
  }

  /** Ends a view, and notifies the viewer. */
  #end(view: View): void {
    this.#letGo(view)
    view.ended()
  }

  #letGo(view: View): void {
    if (!this.#views.delete(view)) return
    if (this.#views.size === 0) clearInterval(this.#timer)
    const timer = setTimeout(() => {
      this.#lingering.delete(timer)
      inBackground(this.#release(view.camera), 'could not end a substream', this.#options.logger)
    }, this.#options.lingerMs ?? defaultLingerMs)
    timer.unref()
    this.#lingering.set(timer, view.camera)
  }

  async #release(camera: Camera): Promise<void> {
    await this.#options.mountpoints.release(this.#options.session(), camera.id)
  }

  /** Starts the periodic check. Janus sends no event for a silent camera on a mountpoint. */
  #look(): void {
    if (this.#views.size > 1) return
    clearInterval(this.#timer)
    this.#timer = setInterval(() => {
      const session = this.#options.session()
      const ids = new Set(Array.from(this.#views, ({ camera }) => camera.id))
      if (session !== undefined) for (const id of ids) mustNotFail(this.#lookAt(session, id))
    }, lookMs)
    this.#timer.unref()
  }

  async #lookAt(session: JanusSession, id: string): Promise<void> {
    const { requests, stallMs, logger } = this.#options
    try {
      const video = (await requests.media(session, id)).find(({ type }) => type === 'video')
      if ((video?.age_ms ?? Number.POSITIVE_INFINITY) < stallMs) return
    } catch (error) {
      logger.debug({ err: error }, 'could not check a substream')
      return
    }
    for (const view of [...this.#views]) {
      if (view.camera.id !== id) continue
      this.#refused.set(view.bridge, performance.now() + againMs)
      this.#end(view)
    }
  }
}

/** Returns the requests that subscribe to a mountpoint. */
function watchedMountpoint({ id, pin }: Pick<Camera, 'id' | 'pin'>): SubscriptionRequests {
  return {
    plugin: 'janus.plugin.streaming',
    watch: { request: 'watch', id, pin },
    restart: { request: 'watch', id, pin, restart: true },
    show: (height) => ({ request: 'configure', video: height > 0 }),
    isEnd: isStopped,
  }
}
