import { z } from 'zod'
import { DeviceJoinError, NodeError } from '../../port/media-node-port.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { JanusHandle } from '../wire/janus-handle.ts'
import type { JanusSession } from '../wire/janus-session.ts'
import { type Camera, mountpointSecret } from './camera-key.ts'

/** How long Janus waits for a camera, in seconds: for its connection, its answers and its packets; and until it calls again. */
const rtspTimes = { rtsp_timeout: 2, rtsp_conn_timeout: 2, rtsp_reconnect_delay: 2 }
const never = new AbortController().signal

const mediaSchema = z.object({
  info: z.object({
    media: z.array(z.looseObject({ type: z.string(), codec: z.string().optional(), age_ms: z.number().optional() })),
  }),
})
const listSchema = z.object({ list: z.array(z.looseObject({ id: z.string() })) })

/** Media of a mountpoint. */
export type MountpointMedia = z.output<typeof mediaSchema>['info']['media']

/** Mountpoints of one Janus, in requests to its Streaming plugin, each through a handle that a session has for that alone. */
export class MountpointRequests {
  readonly #adminKey: string
  readonly #roomKey: string
  readonly #controls = new WeakMap<JanusSession, Promise<JanusHandle>>()
  #controlId = 0
  /** Private ones are listed to who has the admin key: where none is asked for nobody could list them, we neither. */
  #listsPrivate = false

  /** @param keys `roomKey`: see `cameraOf` */
  constructor({ adminKey, roomKey }: { adminKey: string; roomKey: string }) {
    this.#adminKey = adminKey
    this.#roomKey = roomKey
  }

  /** Handle for requests that concern no bridge; 0: none yet. The next claimant of the session goes on with it. */
  get controlId(): number {
    return this.#controlId
  }

  /** The session was claimed, and has this control handle. */
  adoptControl(id: number): void {
    this.#controlId = id
  }

  /** Ids of those that are listed. @throws NodeError */
  async list(session: JanusSession, signal: AbortSignal): Promise<string[]> {
    this.#listsPrivate = await this.#asksForKey(session, signal)
    const { list } = listSchema.parse(await this.#ask(session, { request: 'list', ...this.#keyField }, signal))
    return list.map(({ id }) => id)
  }

  /**
   * Resolves to whether it was there already.
   * @param url as Janus is to ask the camera
   * @throws DeviceJoinError when Janus cannot pull it; NodeError
   */
  async create(
    session: JanusSession,
    camera: Camera,
    { url, hasAudio }: { url: string; hasAudio: boolean },
  ): Promise<boolean> {
    const { id, login, secret, pin } = camera
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
          ...this.#keyField,
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

  /** @throws NodeError */
  async media(session: JanusSession, id: string): Promise<MountpointMedia> {
    return mediaOf(await this.#ask(session, this.#infoOf(id), never))
  }

  /** Milliseconds since the last packet of the camera's picture; Infinity when none came. @throws NodeError */
  async silenceOf(subscriber: JanusHandle, id: string, signal: AbortSignal): Promise<number> {
    const media = mediaOf((await subscriber.request(this.#infoOf(id), signal)).data)
    return media.find(({ type }) => type === 'video')?.age_ms ?? Number.POSITIVE_INFINITY
  }

  /** One that is gone already is no error. @throws NodeError */
  async destroy(session: JanusSession, id: string): Promise<void> {
    try {
      await this.#ask(session, { request: 'destroy', id, secret: mountpointSecret(this.#roomKey, id) }, never)
    } catch (error) {
      if (!isJanusError(error, janusCodes.noMountpoint)) throw error
    }
  }

  async #exists(session: JanusSession, id: string): Promise<boolean> {
    try {
      await this.media(session, id)
      return true
    } catch (error) {
      if (isJanusError(error, janusCodes.noMountpoint)) return false
      throw error
    }
  }

  #infoOf(id: string): { request: 'info'; id: string; secret: string } {
    return { request: 'info', id, secret: mountpointSecret(this.#roomKey, id) }
  }

  /** A wrong key is refused only where one is asked for. */
  async #asksForKey(session: JanusSession, signal: AbortSignal): Promise<boolean> {
    if (this.#adminKey === '') return false
    try {
      await this.#ask(session, { request: 'list', admin_key: `not ${this.#adminKey}` }, signal)
      return false
    } catch (error) {
      if (isJanusError(error, janusCodes.mountpointUnauthorized)) return true
      throw error
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
    // The caller gets the error; the next one tries again.
    control.catch(() => this.#controls.delete(session))
    return control
  }

  async #attachControl(session: JanusSession): Promise<JanusHandle> {
    const control =
      session.handle(this.#controlId) ?? (await session.attach('janus.plugin.streaming', never, 'roomdesk-control'))
    this.#controlId = control.id
    return control
  }

  get #keyField(): { admin_key?: string } {
    return this.#adminKey === '' ? {} : { admin_key: this.#adminKey }
  }
}

/** @throws NodeError */
function mediaOf(data: unknown): MountpointMedia {
  const parsed = mediaSchema.safeParse(data)
  if (!parsed.success) throw new NodeError('it describes a mountpoint in a way that is not known')
  return parsed.data.info.media
}
