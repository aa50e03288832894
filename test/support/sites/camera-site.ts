import { sole } from '../sole-leadership.ts'
import { parseDeviceAddress } from '../../../shared/device-address.ts'
import dns from 'node:dns'
import { onTestFinished } from 'vitest'
import { AllowedAddresses } from '../../../server/media/rtsp/allowed-addresses.ts'
import { probe } from '../../../server/media/rtsp/rtsp-probe.ts'
import type { CameraProbe } from '../../../server/nodes/janus/cameras/camera-look.ts'
import { JanusCameras } from '../../../server/nodes/janus/cameras/janus-cameras.ts'
import type { NodeDevice, NodeEvent } from '../../../server/nodes/port/media-node-port.ts'
import type { StoredDevice } from '../../../server/store/records.ts'
import type { Store } from '../../../server/store/store.ts'
import { storedNode, storedRoom } from '../stored-records.ts'
import type { JanusServer } from '../janus/janus-server.ts'
import { temporaryStore } from './store-site.ts'

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Options of the site. */
export interface CameraSiteOptions {
  /** Timeout of a silent camera, in milliseconds. */
  stallMs?: number
  /** Probes cameras before Janus pulls them. */
  isProbed?: boolean
  /** Time that a substream is pulled after its last viewer, in milliseconds. */
  lingerMs?: number
  /** Networks in which cameras are allowed; default: all. */
  networks?: string[]
  /** Host names with other addresses than the system's. */
  names?: Readonly<Record<string, string>>
}

/** Cameras of one Janus and a store of their own; removed with the test. */
export class CameraSite {
  readonly janus: JanusServer
  readonly store: Store
  /** Events about cameras, in order. */
  readonly told: NodeEvent[] = []
  cameras: JanusCameras
  readonly #options: CameraSiteOptions
  readonly #listeners = new Set<() => void>()

  private constructor(janus: JanusServer, store: Store, options: CameraSiteOptions) {
    this.janus = janus
    this.store = store
    this.#options = options
    this.cameras = this.#start()
  }

  static async open(janus: JanusServer, options: CameraSiteOptions = {}): Promise<CameraSite> {
    const files = await temporaryStore()
    const { store } = files
    await store.transact(['nodes'], (transaction) =>
      transaction.put('nodes', 'janus', storedNode('janus', { kind: 'janus' })),
    )
    const site = new CameraSite(janus, store, options)
    onTestFinished(async () => {
      await site.takeOutOfService()
      await files.remove()
    })
    return site
  }

  /** Starts the next controller; the previous one ends in order and leaves its cameras, or hangs with its connection open. */
  async startAgain(before: 'ends' | 'hangs' = 'ends'): Promise<void> {
    if (before === 'ends') await this.cameras.close()
    this.cameras = this.#start()
  }

  /** Takes the node out of service. */
  async takeOutOfService(): Promise<void> {
    await this.store.transact(['nodes'], (transaction) => transaction.delete('nodes', 'janus'))
    await this.cameras.close()
  }

  /** Opens a room on Janus and in the store. */
  async openRoom(roomId: string): Promise<void> {
    const { adminKey } = this.janus.configuration.secrets
    await this.janus.ask('videoroom', {
      request: 'create',
      room: roomId,
      permanent: false,
      publishers: 20,
      videocodec: 'vp8,h264',
      audiocodec: 'opus,pcmu,pcma',
      ...(adminKey === '' ? {} : { admin_key: adminKey }),
    })
    await this.store.transact([roomId], (transaction) => {
      transaction.put('rooms', roomId, storedRoom(roomId, { node: 'janus' }))
    })
  }

  /** Assigns the device to the room in the store; undefined: deletes the device. */
  async want(userId: string, roomId: string | undefined): Promise<void> {
    await this.store.transact([userId], (transaction) => {
      if (roomId === undefined) transaction.delete('devices', userId)
      else transaction.put('devices', userId, storedDevice(userId, roomId))
    })
  }

  /** Lists the publishers in a room of Janus. */
  async publishers(roomId: string): Promise<string[]> {
    const { participants } = await this.janus.ask('videoroom', { request: 'listparticipants', room: roomId })
    const list = participants as { id: string; publisher: boolean }[]
    return list.filter(({ publisher }) => publisher).map(({ id }) => id)
  }

  /** Ids of the streams that Janus pulls. */
  async mountpoints(): Promise<string[]> {
    const { adminKey } = this.janus.configuration.secrets
    const key = adminKey === '' ? {} : { admin_key: adminKey }
    const { list } = await this.janus.ask('streaming', { request: 'list', ...key })
    return (list as { id: string }[]).map(({ id }) => id)
  }

  /** Counts the handles on Janus that belong to a single camera. */
  handles(): Promise<number> {
    return this.janus.handles('roomdesk-camera')
  }

  /** Waits for the first event of this type from now on. */
  next(type: NodeEvent['type']): Promise<NodeEvent> {
    const from = this.told.length
    return new Promise((resolve) => {
      const look = (): void => {
        const event = this.told.slice(from).find((one) => one.type === type)
        if (event === undefined) return
        this.#listeners.delete(look)
        resolve(event)
      }
      this.#listeners.add(look)
    })
  }

  #start(): JanusCameras {
    const { api, admin, adminKey } = this.janus.configuration.secrets
    return new JanusCameras({
      access: {
        name: 'janus',
        wsUrl: this.janus.wsUrl,
        leadership: sole,
        secrets: {
          api_secret: api,
          admin_secret: admin,
          admin_key: adminKey,
          token_secret: this.janus.configuration.tokenSecret,
          room_key: 'the key of the rooms',
          event_secret: '',
        },
      },
      store: this.store,
      rooms: {
        admit: () => Promise.resolve({}),
        clear: async (room, id) => {
          await this.janus.ask('videoroom', { request: 'kick', room, id })
          return true
        },
        nameOf: (roomId) => Promise.resolve(roomId),
      },
      probe: () => (this.#options.isProbed === false ? undefined : realProbe(this.#options)),
      restricted: () => (this.#options.networks ?? []).length > 0,
      emit: (event) => {
        this.told.push(event)
        for (const listener of [...this.#listeners]) listener()
      },
      logger: { ...quiet, error: console.error },
      ...(this.#options.stallMs === undefined ? {} : { stallMs: this.#options.stallMs }),
      ...(this.#options.lingerMs === undefined ? {} : { lingerMs: this.#options.lingerMs }),
      settleMs: 200,
    })
  }
}

/** Makes the record of a camera that a node pulls. */
export function nodeDevice(
  userId: string,
  address: string,
  login?: NodeDevice['login'],
  assistAddress = '',
): NodeDevice {
  const second = assistAddress === '' ? undefined : parseDeviceAddress(assistAddress)
  return { userId, userName: `Camera ${userId}`, address: parseDeviceAddress(address), assistAddress: second, login }
}

/** Makes the probe that the program of an embedded node uses. */
function realProbe({ networks = [], names = {} }: CameraSiteOptions): CameraProbe {
  const resolve = (
    host: string,
    options: dns.LookupAllOptions,
    callback: (error: NodeJS.ErrnoException | null, found: dns.LookupAddress[]) => void,
  ): void => dns.lookup(names[host] ?? host, options, callback)
  const allowed = new AllowedAddresses({
    networks,
    sitePorts: [],
    siteAddresses: [],
    resolve: resolve as typeof dns.lookup,
  })
  const probing = { trustAnyCertificate: true, answerMs: 4_000, allowed, log: quiet }
  return async (camera, signal) => {
    const found = await probe(camera, probing, signal)
    return found.ok ? { ...found, kind: null, message: '' } : found
  }
}

function storedDevice(userId: string, roomId: string): StoredDevice {
  return {
    roomId,
    userId,
    userName: userId,
    userAddress: 'rtsp://127.0.0.1/cam',
    userData: '',
    options: {},
    login_password_sealed: '',
    paused: false,
    created_at: 1,
  }
}
