import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { unlessAborted } from '../../deadline.ts'
import { DeviceJoinError, NodeError, type NodeDevice } from '../../media-node.ts'
import type { NodeLogger } from '../../node-failure.ts'
import { isJanusError, janusCodes } from '../janus-error.ts'
import type { JanusHandle } from '../janus-handle.ts'
import type { JanusSession } from '../janus-session.ts'
import { type Camera, cameraOf, mountpointSecret, ourMountpoints } from './camera-key.ts'
import type { CameraProbe } from './camera-probe.ts'

/** What mountpoints are made of. */
export interface MountpointsOptions {
  adminKey: string
  /** See `cameraOf`. */
  roomKey: string
  /** Undefined while none can look. */
  probe: () => CameraProbe | undefined
  logger: NodeLogger
}

/** A mountpoint while somebody holds it. */
interface Held {
  uses: number
  /** Rejects when it could not be made. */
  made: Promise<void>
  /** Ends the look at the camera. */
  giveUp: AbortController
}

/** How long Janus waits for a camera, in seconds: for its connection, its answers and its packets; and until it calls again. */
const rtspTimes = { rtsp_timeout: 2, rtsp_conn_timeout: 2, rtsp_reconnect_delay: 2 }
/** Milliseconds between the tries to pull a camera which answered a moment ago. */
const retryWaits = [50, 150, 400]
/** What Janus and browsers carry; the names of SDP. */
const carriedAudio = /^(opus|pcmu|pcma|g722)$/i
const carriedVideo = /^(h264|vp8|vp9|av1)$/i
const never = new AbortController().signal

const mediaSchema = z.object({
  info: z.object({
    media: z.array(z.looseObject({ type: z.string(), codec: z.string().optional(), age_ms: z.number().optional() })),
  }),
})
const listSchema = z.object({ list: z.array(z.looseObject({ id: z.string() })) })
type Media = z.output<typeof mediaSchema>['info']['media']

/** The cameras that a node pulls: each once, however many rooms it is in, from its first room to its last. */
export class Mountpoints {
  readonly #options: MountpointsOptions
  readonly #held = new Map<string, Held>()
  /** Those that are being destroyed: the next of the same id waits. */
  readonly #ending = new Map<string, Promise<void>>()
  readonly #controls = new WeakMap<JanusSession, Promise<JanusHandle>>()
  #controlId = 0
  #leftBehind = false
  /** Private ones are listed to who has the admin key: where none is asked for nobody could list them, we neither. */
  #listsPrivate = false

  constructor(options: MountpointsOptions) {
    this.#options = options
  }

  /** Cameras that are pulled. */
  get size(): number {
    return this.#held.size
  }

  /** One could not be destroyed when it should have been: the next session does it. */
  get leftBehind(): boolean {
    return this.#leftBehind
  }

  /** The handle through which a session is asked for what concerns no loop; 0: none yet. Whoever claims the session goes on with it. */
  get controlId(): number {
    return this.#controlId
  }

  /** The session was claimed, and has this control handle. */
  adoptControl(id: number): void {
    this.#controlId = id
  }

  camera(device: Pick<NodeDevice, 'address' | 'login'>): Camera {
    return cameraOf(device, this.#options.roomKey)
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

  /** Milliseconds since the last packet of the camera's picture; Infinity when none came. @throws NodeError */
  async silenceOf(subscriber: JanusHandle, id: string, signal: AbortSignal): Promise<number> {
    const media = mediaOf((await subscriber.request(this.#infoOf(id), signal)).data)
    return media.find(({ type }) => type === 'video')?.age_ms ?? Number.POSITIVE_INFINITY
  }

  /** Looks at a session that was opened: destroys what is ours and nobody holds, which was left behind. @throws NodeError */
  async review(session: JanusSession, signal: AbortSignal): Promise<void> {
    this.#listsPrivate = await this.#asksForKey(session, signal)
    const data = await this.#ask(session, { request: 'list', ...this.#adminKey }, signal)
    this.#leftBehind = false
    const { list } = listSchema.parse(data)
    for (const { id } of list) {
      if (!id.startsWith(ourMountpoints) || this.#held.has(id) || this.#ending.has(id)) continue
      this.#options.logger.info({ mountpoint: id }, 'a mountpoint that nobody holds is destroyed')
      await this.#destroy(session, id)
    }
  }

  /** A wrong key is refused only where one is asked for. */
  async #asksForKey(session: JanusSession, signal: AbortSignal): Promise<boolean> {
    const { adminKey } = this.#options
    if (adminKey === '') return false
    try {
      await this.#ask(session, { request: 'list', admin_key: `not ${adminKey}` }, signal)
      return false
    } catch (error) {
      if (isJanusError(error, janusCodes.mountpointUnauthorized)) return true
      throw error
    }
  }

  #begin(session: JanusSession, camera: Camera): Held {
    const giveUp = new AbortController()
    const held: Held = { uses: 0, giveUp, made: this.#make(session, camera, giveUp.signal) }
    this.#held.set(camera.id, held)
    // Whoever comes next tries anew.
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
    const { hasAudio, isSeen } = await this.#look(camera, signal)
    // Janus goes on with what it began: what is no longer wanted is destroyed after it was made.
    const isThere = await this.#createPatiently(session, camera, hasAudio, isSeen ? retryWaits : [], signal)
    const media = await this.#media(session, camera.id, never)
    if (!media.some(({ type, codec = '' }) => type === 'video' && carriedVideo.test(codec))) {
      await this.#destroy(session, camera.id)
      throw new DeviceJoinError('noUsableTrack', `Janus carries none of its media: ${described(media)}.`)
    }
    // An entry that it cannot carry would stop the picture as well.
    if (isThere || !hasAudio || media.every(({ type, codec = '' }) => type !== 'audio' || carriedAudio.test(codec)))
      return
    await this.#destroy(session, camera.id)
    await this.#create(session, camera, false)
  }

  /** Whether it has sound that can be carried, or may have, and whether it answered. @throws DeviceJoinError with the reason why it did not */
  async #look({ url, login }: Camera, signal: AbortSignal): Promise<{ hasAudio: boolean; isSeen: boolean }> {
    if (/^rtsps:/i.test(url)) {
      throw new DeviceJoinError('nodeFailed', 'Janus pulls cameras by rtsp:// only: put the room on an embedded node.')
    }
    const probe = this.#options.probe()
    if (probe === undefined) return { hasAudio: true, isSeen: false }
    let found: Awaited<ReturnType<CameraProbe>>
    try {
      found = await probe({ address: url, login }, signal)
    } catch (error) {
      signal.throwIfAborted()
      this.#options.logger.debug({ err: error }, 'a camera could not be looked at before Janus pulls it')
      return { hasAudio: true, isSeen: false }
    }
    const { kind, message, tracks } = found
    if (kind !== null) throw new DeviceJoinError(kind, message)
    if (!tracks.some((track) => track.kind === 'video' && carriedVideo.test(track.codec))) {
      throw new DeviceJoinError('noUsableTrack', 'Janus carries H.264, VP8, VP9 and AV1 only.')
    }
    return { hasAudio: tracks.some((track) => track.kind === 'audio' && carriedAudio.test(track.codec)), isSeen: true }
  }

  /** A camera that somebody, such as our own look, let go of a moment ago may refuse the next for a moment (503). */
  async #createPatiently(
    session: JanusSession,
    camera: Camera,
    hasAudio: boolean,
    waits: readonly number[],
    signal: AbortSignal,
  ): Promise<boolean> {
    for (const wait of waits) {
      try {
        return await this.#create(session, camera, hasAudio)
      } catch (error) {
        if (!(error instanceof DeviceJoinError)) throw error
        await sleep(wait, undefined, { signal })
      }
    }
    return await this.#create(session, camera, hasAudio)
  }

  /** Resolves to whether it was there already. */
  async #create(session: JanusSession, camera: Camera, hasAudio: boolean): Promise<boolean> {
    const { id, url, login, secret, pin } = camera
    try {
      await this.#ask(
        session,
        {
          request: 'create',
          type: 'rtsp',
          id,
          description: 'A camera of Roomdesk',
          permanent: false,
          is_private: this.#listsPrivate,
          secret,
          pin,
          url,
          ...(login === undefined ? {} : { rtsp_user: login.name, rtsp_pwd: login.password }),
          audio: hasAudio,
          video: true,
          ...rtspTimes,
          ...this.#adminKey,
        },
        never,
      )
      return false
    } catch (error) {
      if (!isJanusError(error, janusCodes.cannotCreate)) throw error
      // The same number for everything, also for one that is there already.
      if (await this.#exists(session, id)) return true
      throw new DeviceJoinError(
        'nodeFailed',
        'Janus could not pull the camera, and does not say why; an embedded node at this site would find out.',
        { cause: error },
      )
    }
  }

  async #exists(session: JanusSession, id: string): Promise<boolean> {
    try {
      await this.#media(session, id, never)
      return true
    } catch (error) {
      if (isJanusError(error, janusCodes.noMountpoint)) return false
      throw error
    }
  }

  async #media(session: JanusSession, id: string, signal: AbortSignal): Promise<Media> {
    return mediaOf(await this.#ask(session, this.#infoOf(id), signal))
  }

  #infoOf(id: string): { request: 'info'; id: string; secret: string } {
    return { request: 'info', id, secret: mountpointSecret(this.#options.roomKey, id) }
  }

  async #destroy(session: JanusSession, id: string): Promise<void> {
    try {
      const secret = mountpointSecret(this.#options.roomKey, id)
      await this.#ask(session, { request: 'destroy', id, secret }, never)
    } catch (error) {
      if (isJanusError(error, janusCodes.noMountpoint)) return
      this.#leftBehind = true
      this.#options.logger.debug({ err: error, mountpoint: id }, 'a mountpoint could not be destroyed')
    }
  }

  async #ask(session: JanusSession, body: object, signal: AbortSignal): Promise<Record<string, unknown>> {
    try {
      return (await (await this.#control(session)).request({ ...body }, signal)).data
    } catch (error) {
      if (!isJanusError(error, janusCodes.noHandle)) throw error
      // That of a session which was claimed may be gone.
      this.#controls.delete(session)
      this.#controlId = 0
      return (await (await this.#control(session)).request({ ...body }, signal)).data
    }
  }

  #control(session: JanusSession): Promise<JanusHandle> {
    const known = this.#controls.get(session)
    if (known !== undefined) return known
    const control = this.#attachControl(session)
    this.#controls.set(session, control)
    control.catch(() => this.#controls.delete(session))
    return control
  }

  async #attachControl(session: JanusSession): Promise<JanusHandle> {
    const control =
      session.handle(this.#controlId) ?? (await session.attach('janus.plugin.streaming', never, 'roomdesk-control'))
    this.#controlId = control.id
    return control
  }

  get #adminKey(): { admin_key?: string } {
    const { adminKey } = this.#options
    return adminKey === '' ? {} : { admin_key: adminKey }
  }
}

/** @throws NodeError */
function mediaOf(data: unknown): Media {
  const parsed = mediaSchema.safeParse(data)
  if (!parsed.success) throw new NodeError('it describes a mountpoint in a way that is not known')
  return parsed.data.info.media
}

function described(media: Media): string {
  return media.map(({ type, codec = 'of another kind' }) => `${type} ${codec}`).join(', ')
}
