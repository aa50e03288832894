import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { apiListeners } from '../../../server/controller/apis.ts'
import type { EventDraft } from '../../../server/event-log/event-log.ts'
import { StuckDisk } from '../../../server/lab/stuck-disk.ts'
import type { NodeUser } from '../../../server/nodes/port/media-node-port.ts'
import { SimulatedNode } from '../../../server/nodes/simulated/simulated-node.ts'
import type { SiteRecorder } from '../../../server/recordings/client-recordings/media-orders.ts'
import { createServices, type Services } from '../../../server/controller/services.ts'
import { openStore } from '../../../server/store/open-store.ts'
import type { Leadership } from '../../../server/store/store.ts'
import type { StoredNode } from '../../../server/store/records.ts'
import { createSealer } from '../../../server/store/sealer.ts'
import type { Store } from '../../../server/store/store.ts'
import type { Licence } from '../../../shared/licence.ts'
import { defaultSettings, type Settings } from '../../../shared/settings.ts'
import { sealedPlaceOf } from '../../../server/store/sealed-places.ts'
import { ApiClient } from '../api-client.ts'
import { storedNode } from '../stored-records.ts'
import { collectingSink } from '../collecting-sink.ts'

/** A complete controller with both listeners on free ports, a real data folder and simulated nodes. */
export interface LiveSite extends Services {
  /** Client that may create every room. */
  client: ApiClient
  /** Client whose credential has no P2P permission. */
  plainClient: ApiClient
  folder: string
  /** Log entries of level warn and above. */
  logged: string[]
  /** Entries of the event log. */
  events: EventDraft[]
  /** Finds the simulated node of that name. */
  node(name?: string): SimulatedNode
  /** Lets a simulated user join a room. */
  join(roomId: string, userId: string, hostPassword?: string): Promise<NodeUser>
  /** Resolves when the condition holds, checked after every change; rejects after 5 s. */
  until(condition: () => boolean): Promise<void>
  setLicence(licence: Partial<Licence>): Promise<void>
  /** Stops it in order. */
  stop(): Promise<void>
}

export interface LiveSiteOptions {
  /** Names and fields of simulated nodes; default: one, `main`. */
  nodes?: Record<string, Partial<StoredNode>>
  deadlines?: Partial<Settings['deadlines']>
  devices?: Partial<Settings['devices']>
  licence?: Partial<Licence>
  /** Data folder of an earlier site. */
  folder?: string
  /** Recorder of the site; left out: nothing can be recorded. */
  recorder?: SiteRecorder
  /** Left out: nobody else can lead. */
  leadership?: Leadership
  /** Folder of the built player page. */
  playerPage?: string
  /** Path of ffmpeg; left out: the one on the path. */
  ffmpeg?: string
}

const credentials = { full: 'full-access', plain: 'plain-access' }
const secret = 'a secret key of the tests'

/** These sites have no embedded node. */
function noProgram(): never {
  throw new Error('this site has no program of a media node')
}

/** Starts a site that stops with the test. */
export async function liveSite(options: LiveSiteOptions = {}): Promise<LiveSite> {
  const defaults = defaultSettings()
  const settings: Settings = {
    ...defaults,
    deadlines: { ...defaults.deadlines, health_interval_ms: 50, health_ms: 4_000, ...options.deadlines },
    devices: { ...defaults.devices, reconnect_first_ms: 20, reconnect_longest_ms: 200, ...options.devices },
  }
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'roomdesk-site-')))
  const logged: string[] = []
  const events: EventDraft[] = []
  const logger = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) })
  const deadlineMs = (): number => settings.deadlines.store_ms
  const stuckDisk = new StuckDisk()
  const sealer = createSealer(Buffer.alloc(32, 7))
  const store = await openStore({ folder, sealer, deadlineMs, flushGate: stuckDisk })
  if (options.folder === undefined) await furnish(store, options)
  if (options.leadership !== undefined) Object.defineProperty(store, 'leadership', { value: options.leadership })
  const services = createServices({
    events: collectingSink(events),
    eventLog: {
      append: (event) => void events.push(event),
      query: () => Promise.resolve({ items: [], next: 0, kept: 0, newest: 0, since: 0 }),
      sync: () => Promise.resolve(1),
    },
    store,
    stuckDisk,
    settings: () => settings,
    logger,
    connections: async () => ({}),
    folder,
    defaultNodeAddress: () => '127.0.0.1:7082',
    mediaUrl: () => listeners.media.url,
    recorder: options.recorder,
    playerPage: options.playerPage,
    media: { spawn: noProgram, pageFolder: '', ffmpeg: options.ffmpeg },
    sitePorts: () => [],
    version: '0.0.0',
  })
  const listeners = apiListeners(services, { logger, version: '0.0.0' })
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => {
    stopped ??= (async () => {
      await Promise.all([listeners.media.stop(0), listeners.device.stop(0)])
      await services.stop()
      await store.close()
    })()
    return stopped
  }
  onTestFinished(async () => {
    stuckDisk.end()
    settings.deadlines.store_ms = defaults.deadlines.store_ms
    await stop()
    await rm(folder, { recursive: true, force: true })
  })
  await services.start()
  await Promise.all([
    listeners.media.start('127.0.0.1', 0, undefined),
    listeners.device.start('127.0.0.1', 0, undefined),
  ])
  const urls = { media: listeners.media.url, device: listeners.device.url }
  const signIn = async (accessKey: string): Promise<ApiClient> => {
    const client = new ApiClient(urls, { access_key: accessKey, secret_key: secret })
    await client.authenticate()
    return client
  }
  const node = (name = 'main'): SimulatedNode => {
    const driver = services.pool.nodes.driver(name)
    if (!(driver instanceof SimulatedNode)) throw new Error(`no node ${name}`)
    return driver
  }
  return {
    ...services,
    client: await signIn(credentials.full),
    plainClient: await signIn(credentials.plain),
    folder,
    logged,
    events,
    node,
    stop,
    join: (roomId, userId, hostPassword = '') =>
      services.people.join(roomId, { userId, userName: `Name of ${userId}`, hostPassword }),
    until: (condition) => until(services, condition),
    setLicence: (licence) =>
      store.transact([], (change) =>
        change.put('licence', 'site', { expires_at: '', max_rooms: 0, max_users: 0, ...licence }),
      ),
  }
}

async function furnish(store: Store, { nodes = { main: {} }, licence }: LiveSiteOptions): Promise<void> {
  await store.transact([], (change) => {
    for (const [kind, access_key] of Object.entries(credentials)) {
      change.put('credentials', access_key, {
        access_key,
        secret_key_sealed: store.seal(secret, sealedPlaceOf('credentials', access_key)),
        label: kind,
        enabled: true,
        p2p: kind === 'full',
        created_at: 1,
        rotated_at: 1,
      })
    }
    for (const [name, fields] of Object.entries(nodes)) change.put('nodes', name, storedNode(name, fields))
    change.put('licence', 'site', { expires_at: '', max_rooms: 0, max_users: 0, ...licence })
  })
}

function until({ outgoing, pool, store }: Services, condition: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => () => {
      clearTimeout(timer)
      for (const unsubscribe of unsubscribes) unsubscribe()
      finish()
    }
    const timer = setTimeout(
      settle(() => reject(new Error(`it never held: ${String(condition)}`))),
      5_000,
    )
    const done = settle(resolve)
    // Checks after the other listeners have run.
    const look = (): void =>
      setImmediate(() => {
        if (condition()) done()
      }) && undefined
    const unsubscribes = [outgoing.fleet.onChange(look), pool.events.subscribe(look), store.onChange(look)]
    look()
  })
}

/** Makes the parameters of createOutgoingUser for a camera. */
export function camera(roomId: string, userId: string, fields: Record<string, string> = {}): Record<string, string> {
  return { roomId, userId, userName: `Camera ${userId}`, userAddress: `rtsp://10.0.0.8:554/${userId}`, ...fields }
}

/** Lists the users of a room through the API. */
export async function userIds(client: ApiClient, roomId: string): Promise<string[]> {
  const answer = await client.get('/rtc/room/get_room_info', { room_id: roomId })
  if (!Array.isArray(answer.user_list)) throw new Error(JSON.stringify(answer))
  return answer.user_list.map((user: { user_id: string }) => user.user_id)
}
