import { sleep } from '../../../../shared/sleep.ts'
import { unlessAborted } from '../../../../shared/abort.ts'
import { DeviceJoinError } from '../../port/media-node-port.ts'
import type { JanusSession } from '../wire/janus-session.ts'
import { type Camera, ourMountpoints } from './camera-key.ts'
import { described, hasPicture, hasStrangeSound, lookAtCamera, type Looked, type LookOptions } from './camera-look.ts'
import type { MountpointRequests } from './mountpoint-requests.ts'

/** Needs of mountpoints. */
export interface MountpointsOptions extends LookOptions {
  requests: MountpointRequests
}

/** A mountpoint while somebody holds it. */
interface Held {
  uses: number
  /** Rejects when it could not be made. */
  made: Promise<void>
  /** Ends the look at the camera. */
  giveUp: AbortController
}

/** Milliseconds between the tries to pull a camera which answered a moment ago. */
const retryWaits = [50, 150, 400]
/** Janus waits 2 s for each answer of a camera: one that took so long, in milliseconds, was silent, and is not called again. */
const silentMs = 1_500

/** The cameras that a node pulls: each once, however many rooms it is in, from its first room to its last. */
export class Mountpoints {
  readonly #options: MountpointsOptions
  readonly #requests: MountpointRequests
  readonly #held = new Map<string, Held>()
  /** Those that are being destroyed: the next of the same id waits. */
  readonly #ending = new Map<string, Promise<void>>()
  #leftBehind = false

  constructor(options: MountpointsOptions) {
    this.#options = options
    this.#requests = options.requests
  }

  /** Cameras that are pulled. */
  get size(): number {
    return this.#held.size
  }

  /** One could not be destroyed when it should have been: the next session does it. */
  get leftBehind(): boolean {
    return this.#leftBehind
  }

  /**
   * The camera is pulled from now on; `release` follows.
   * @throws DeviceJoinError, NodeError; the signal's reason, after which it is released
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

  /** One that is there already has one more user. */
  keep(id: string): void {
    const held = this.#held.get(id)
    if (held !== undefined) held.uses += 1
    else this.#held.set(id, { uses: 1, made: Promise.resolve(), giveUp: new AbortController() })
  }

  /** One user less; without users it is destroyed, and this resolves then. Never rejects. @param session undefined: the next session does it */
  async release(session: JanusSession | undefined, id: string): Promise<void> {
    const held = this.#held.get(id)
    if (held === undefined) return
    this.#drop(session, id, held)
    await this.#ending.get(id)
  }

  /** Resolves when those are destroyed that nobody holds any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#ending.values())
  }

  /** Looks at a session that was opened: destroys what is ours and nobody holds, which was left behind; returns which these were. @throws NodeError */
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
    // Janus goes on with what it began: what is no longer wanted is destroyed after it was made.
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
   * A camera that somebody, such as our own look, let go of a moment ago may refuse the next for a moment (503).
   * @throws DeviceJoinError `timeout` where it was silent; NodeError
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
      this.#options.logger.debug({ err: error, mountpoint: id }, 'a mountpoint could not be destroyed')
    }
  }
}

function refusedJanus(cause: unknown): DeviceJoinError {
  const message = 'The camera answered us, and Janus could not pull it: Janus takes its media by UDP only.'
  return new DeviceJoinError('nodeFailed', message, { cause })
}
