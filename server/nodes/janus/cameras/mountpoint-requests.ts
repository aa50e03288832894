import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { cameraKey, type CameraSource } from '../../../../shared/device-address.ts'
import { DeviceJoinError, NodeError } from '../../port/media-node-port.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { JanusHandle } from '../wire/janus-handle.ts'
import type { JanusSession } from '../wire/janus-session.ts'

/** Prefix of the names of this site's mountpoints. */
export const ourMountpoints = 'roomdesk-'

/** Camera that a node pulls once for all rooms, identified by its address and login. */
export interface Camera extends CameraSource {
  /** Id of its mountpoint. The same camera on the same node always has the same id, which cannot be guessed. */
  id: string
  /** Secret required to change the mountpoint or read the login. */
  secret: string
  /** PIN required to watch the mountpoint. */
  pin: string
}

/**
 * Returns the camera with the derived id and secrets of its mountpoint.
 * @param roomKey secret of the node
 */
export function cameraOf({ address, login }: CameraSource, roomKey: string): Camera {
  const id = ourMountpoints + derived(roomKey, 'mountpoint', cameraKey({ address, login })).slice(0, 22)
  return { id, address, login, secret: mountpointSecret(roomKey, id), pin: derived(roomKey, 'pin', id) }
}

/** Returns the secret of a mountpoint of this site. */
export function mountpointSecret(roomKey: string, id: string): string {
  return derived(roomKey, 'secret', id)
}

function derived(roomKey: string, purpose: string, text: string): string {
  return createHmac('sha256', roomKey).update(`camera ${purpose} ${text}`).digest('base64url')
}

/**
 * Timeouts of Janus for a camera, in seconds: for answers and packets, and for connecting. Also the delay before Janus
 * reconnects.
 */
const rtspTimes = { rtsp_timeout: 2, rtsp_conn_timeout: 2, rtsp_reconnect_delay: 2 }
const never = new AbortController().signal

const mediaSchema = z.object({
  info: z.object({
    media: z.array(z.looseObject({ type: z.string(), codec: z.string().optional(), age_ms: z.number().optional() })),
  }),
})
const listSchema = z.object({ list: z.array(z.looseObject({ id: z.string() })) })

export type MountpointMedia = z.output<typeof mediaSchema>['info']['media']

/** Requests about mountpoints to the Streaming plugin of one Janus. Each session has a separate handle for them. */
export class MountpointRequests {
  readonly #adminKey: string
  readonly #roomKey: string
  readonly #controls = new WeakMap<JanusSession, Promise<JanusHandle>>()
  #controlId = 0
  /**
   * Whether mountpoints are created as private. Janus lists private mountpoints only with the admin key. If the node
   * requires no key, private mountpoints would never be listed.
   */
  #listsPrivate = false

  /** @param keys `roomKey`: see `cameraOf` */
  constructor({ adminKey, roomKey }: { adminKey: string; roomKey: string }) {
    this.#adminKey = adminKey
    this.#roomKey = roomKey
  }

  /**
   * Id of the handle for requests that concern no bridge; 0: none yet. The next claimant of the session reuses the
   * handle.
   */
  get controlId(): number {
    return this.#controlId
  }

  /** Sets the control handle of a claimed session. */
  adoptControl(id: number): void {
    this.#controlId = id
  }

  /**
   * Returns the ids of the listed mountpoints.
   * @throws NodeError
   */
  async list(session: JanusSession, signal: AbortSignal): Promise<string[]> {
    this.#listsPrivate = await this.#asksForKey(session, signal)
    const { list } = listSchema.parse(await this.#ask(session, { request: 'list', ...this.#keyField }, signal))
    return list.map(({ id }) => id)
  }

  /**
   * Creates a mountpoint. Resolves to true if it already existed.
   * @param url URL of the camera for Janus
   * @throws DeviceJoinError if Janus cannot pull the camera; NodeError
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
      // Janus uses the same code for every failure, including an id that already exists.
      if (await this.#exists(session, id)) return true
      throw new DeviceJoinError(
        'nodeFailed',
        'Janus could not pull the camera, and does not say why; an embedded node at this site would find out.',
        { cause: error },
      )
    }
  }

  /**
   * Returns the media of a mountpoint.
   * @throws NodeError
   */
  async media(session: JanusSession, id: string): Promise<MountpointMedia> {
    return mediaOf(await this.#ask(session, this.#infoOf(id), never))
  }

  /**
   * Returns the milliseconds since the last video packet of the camera; Infinity if there was none.
   * @throws NodeError
   */
  async silenceOf(subscriber: JanusHandle, id: string, signal: AbortSignal): Promise<number> {
    const media = mediaOf((await subscriber.request(this.#infoOf(id), signal)).data)
    return media.find(({ type }) => type === 'video')?.age_ms ?? Number.POSITIVE_INFINITY
  }

  /**
   * Destroys a mountpoint. Does nothing if it does not exist.
   * @throws NodeError
   */
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

  /** Returns whether the node requires the admin key: only then does it reject a wrong key. */
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
      // The control handle of a claimed session may no longer exist.
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
    // The caller gets the error; the next call tries again.
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
