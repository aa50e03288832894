import { sleep } from '../../../../shared/sleep.ts'
import { unlessAborted } from '../../../../shared/abort.ts'
import { DeviceJoinError } from '../../port/media-node-port.ts'
import type { JanusSession } from '../wire/janus-session.ts'
import { described, hasPicture, hasStrangeSound, lookAtCamera, type Looked, type LookOptions } from './camera-look.ts'
import { type Camera, type MountpointRequests, ourMountpoints } from './mountpoint-requests.ts'

export interface MountpointsOptions extends LookOptions {
  requests: MountpointRequests
}

/** A mountpoint that is in use. */
interface Held {
  uses: number
  /** Rejects if the mountpoint could not be created. */
  made: Promise<void>
  /** Aborts the probe of the camera and further attempts to pull it. */
  giveUp: AbortController
}

/** Delays between attempts to pull a camera that has just answered the probe, in milliseconds. */
const retryWaits = [50, 150, 400]
/**
 * Duration of a failed attempt, in milliseconds, above which the camera counts as silent and is not tried again. Janus
 * waits 2 s for each answer of a camera.
 */
const silentMs = 1_500

/** The cameras that a node pulls. A camera in several rooms is pulled once, from its first room to its last. */
export class Mountpoints {
  readonly #options: MountpointsOptions
  readonly #requests: MountpointRequests
  readonly #held = new Map<string, Held>()
  /** Pending destructions of mountpoints, by id. A new mountpoint with the same id is created afterwards. */
  readonly #ending = new Map<string, Promise<void>>()
  #leftBehind = false

  constructor(options: MountpointsOptions) {
    this.#options = options
    this.#requests = options.requests
  }

  /** Number of cameras that are pulled. */
  get size(): number {
    return this.#held.size
  }

  /** Whether a mountpoint could not be destroyed in time. The next session destroys it. */
  get leftBehind(): boolean {
    return this.#leftBehind
  }

  /**
   * Starts to use a camera, which is then pulled until `release`.
   * @throws DeviceJoinError, NodeError; the signal's reason. After an error, the camera is released.
   */
  async hold(session: JanusSession, camera: Camera, signal: AbortSignal): Promise<void> {
    const { id } = camera
    const held = this.#held.get(id) ?? this.#begin(session, camera)
    held.uses += 1
    try {
      await unlessAborted(held.made, signal)
    } catch (error) {
      this.#drop(session, id, held)
      throw error
    }
  }

  /** Counts another use of a mountpoint that already exists on the node. */
  keep(id: string): void {
    const held = this.#held.get(id)
    if (held !== undefined) held.uses += 1
    else this.#held.set(id, { uses: 1, made: Promise.resolve(), giveUp: new AbortController() })
  }

  /**
   * Ends one use. After the last use, resolves when the mountpoint is destroyed. Never rejects.
   * @param session undefined: the next session destroys the mountpoint
   */
  async release(session: JanusSession | undefined, id: string): Promise<void> {
    const held = this.#held.get(id)
    if (held === undefined) return
    this.#drop(session, id, held)
    await this.#ending.get(id)
  }

  /** Resolves when all unused mountpoints are destroyed. */
  async settled(): Promise<void> {
    await Promise.all(this.#ending.values())
  }

  /**
   * Destroys unused mountpoints of this site that an earlier session left behind. Returns their ids.
   * @throws NodeError
   */
  async review(session: JanusSession, signal: AbortSignal): Promise<string[]> {
    const listed = await this.#requests.list(session, signal)
    this.#leftBehind = false
    const strays: string[] = []
    for (const id of listed) {
      if (!id.startsWith(ourMountpoints) || this.#held.has(id) || this.#ending.has(id)) continue
      this.#options.logger.info({ mountpoint: id }, 'destroying an unused mountpoint')
      await this.#destroy(session, id)
      strays.push(id)
    }
    return strays
  }

  #begin(session: JanusSession, camera: Camera): Held {
    const giveUp = new AbortController()
    const held: Held = { uses: 0, giveUp, made: this.#make(session, camera, giveUp.signal) }
    this.#held.set(camera.id, held)
    // The next caller tries again.
    held.made.catch(() => {
      if (this.#held.get(camera.id) === held) this.#held.delete(camera.id)
    })
    return held
  }

  #drop(session: JanusSession | undefined, id: string, held: Held): void {
    held.uses -= 1
    if (held.uses > 0) return
    if (this.#held.get(id) === held) this.#held.delete(id)
    held.giveUp.abort(new Error('nobody waits for it'))
    if (session === undefined) {
      this.#leftBehind = true
      return
    }
    const ending = held.made
      .then(
        () => this.#destroy(session, id),
        () => {},
      )
      .finally(() => {
        if (this.#ending.get(id) === ending) this.#ending.delete(id)
      })
    this.#ending.set(id, ending)
  }

  async #make(session: JanusSession, camera: Camera, signal: AbortSignal): Promise<void> {
    await this.#ending.get(camera.id)
    signal.throwIfAborted()
    const looked = await lookAtCamera(camera, this.#options, signal)
    // Janus cannot abort a creation: a mountpoint that is no longer needed is destroyed after it was created.
    const isThere = await this.#createPatiently(session, camera, looked, signal)
    const media = await this.#requests.media(session, camera.id)
    if (!hasPicture(media)) {
      await this.#destroy(session, camera.id)
      throw new DeviceJoinError('noUsableTrack', `Janus carries none of its media: ${described(media)}.`)
    }
    if (isThere || !looked.hasAudio || !hasStrangeSound(media)) return
    await this.#destroy(session, camera.id)
    await this.#requests.create(session, camera, { url: looked.url, hasAudio: false })
  }

  /**
   * Creates the mountpoint, with several attempts. A camera may reject a connection (503) just after another client,
   * such as the probe, has disconnected.
   * @throws DeviceJoinError `timeout` if the camera was silent; NodeError
   */
  async #createPatiently(session: JanusSession, camera: Camera, looked: Looked, signal: AbortSignal): Promise<boolean> {
    const { isSeen } = looked
    const waits = isSeen ? [...retryWaits] : []
    for (;;) {
      const asked = performance.now()
      try {
        return await this.#requests.create(session, camera, looked)
      } catch (error) {
        if (!(error instanceof DeviceJoinError)) throw error
        if (performance.now() - asked > silentMs)
          throw new DeviceJoinError('timeout', 'Janus called the camera, which did not answer.', { cause: error })
        const wait = waits.shift()
        if (wait === undefined) throw isSeen ? refusedJanus(error) : error
        await sleep(wait, { signal })
      }
    }
  }

  async #destroy(session: JanusSession, id: string): Promise<void> {
    try {
      await this.#requests.destroy(session, id)
    } catch (error) {
      this.#leftBehind = true
      this.#options.logger.debug({ err: error, mountpoint: id }, 'could not destroy a mountpoint')
    }
  }
}

function refusedJanus(cause: unknown): DeviceJoinError {
  const message = 'The camera answered us, and Janus could not pull it: Janus takes its media by UDP only.'
  return new DeviceJoinError('nodeFailed', message, { cause })
}
