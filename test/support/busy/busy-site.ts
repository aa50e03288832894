import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, onTestFinished, vi } from 'vitest'
import type { OrderedRecording } from '../../../shared/console/orders.ts'
import { ApiClient } from '../api-client.ts'
import { startCamera } from '../camera/camera.ts'
import { handOver } from '../controllers/hand-over.ts'
import { type Proof, type ProofOptions, proved } from '../controllers/proved.ts'
import type { Call } from '../controllers/history.ts'
import { seededRandom } from '../../../shared/seeded-random.ts'
import { type ControllersSite, credential, type SiteController } from '../sites/controllers-site.ts'
import { loggedEvents } from './logged-events.ts'
import { MediaOrders, orderEventDifferences } from './media-orders.ts'
import { RecordButton } from './record-button.ts'
import { differences, indexOf, openSizes, orderDifferences, overlaps, PlayedFiles } from './recordings-audit.ts'
import { ScheduledMeetings } from './scheduled-meetings.ts'
import { built } from '../built.ts'

const run = promisify(execFile)
const program = built('server/headless.js')

/** Time within which a recorder follows an acknowledged change or a new leader, in milliseconds: it starts the media program, calls the camera and waits for a key frame. */
const followMs = 20_000
/** Time for which a live stream without an order is still recorded, in milliseconds, and its files are made. */
const endMs = 60_000
/** Interval between two looks at the files that are being written, in milliseconds; a camera sends a picture every 200. */
const lookMs = 700

/** Cameras of the room: one for each reason of a recording. */
const cameras = { gate: 'gate', door: 'door', hall: 'hall', porch: 'porch' } as const

/** Place of the recordings: a folder for all, as on a disk that follows the leader, or one of each controller. */
export type RecordingsPlace = 'shared' | 'own'

/** Active orders of recordings, and cameras that are to be recorded now and not. */
interface Due {
  orders: string[]
  recorded: string[]
  idle: string[]
}

/** A story on a site with recordings, live streams and schedules under way. */
export interface BusyProof extends Proof {
  busy: BusySite
}

/** Number of faults of a run: `npm run faults -- NAME --rounds N`, or ROOMDESK_BUSY_ROUNDS. */
export function busyRounds(usual: number): number {
  return Number(process.env.ROOMDESK_BUSY_ROUNDS ?? usual)
}

/** Runs a story as `proved` does, on a site where recordings, live streams and schedules are under way; at the end, histories of changes, files and event log have to agree. */
export async function provedBusy(
  { recordings, ...options }: ProofOptions & { recordings: RecordingsPlace },
  story: (proof: BusyProof) => Promise<void>,
): Promise<readonly Call[]> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-recordings-'))
  const host = options.network?.address ?? '127.0.0.1'
  const camera = await startCamera({ host, fps: 5, gop: 5, kbps: 50 })
  // Runs after the site has been removed.
  onTestFinished(async () => {
    await camera.kill()
    await rm(folder, { recursive: true, force: true })
  })
  const settings = {
    ...options.settings,
    recording: { free_gigabytes: 0.1, free_percent: 0 },
    devices: { reconnect_first_ms: 200 },
  }
  const env = recordings === 'shared' ? { ROOMDESK_RECORDINGS_DIR: folder } : {}
  const nodes = [{ name: 'here', kind: 'embedded' }]
  return await proved({ ...options, nodes, settings, env }, async (proof) => {
    const busy = new BusySite(proof, await yardOf(proof.site, camera.url('/stream2')), {
      ...(recordings === 'shared' ? { folder } : {}),
      random: seededRandom((options.seed ?? 0) + 2),
    })
    await busy.start()
    await story({ ...proof, busy })
    await busy.finish()
  })
}

/** Creates the room with its cameras. @returns its id */
async function yardOf(site: ControllersSite, userAddress: string): Promise<string> {
  const { headless } = await site.leader()
  const { room_id: roomId } = await headless.rpc('rooms.create', { topic: 'Yard' })
  for (const userId of Object.values(cameras)) {
    const device = { roomId, userId, userName: userId, userAddress }
    await expect
      .poll(async () => (await headless.result('devices.create', device)).ok, { timeout: followMs })
      .toBe(true)
  }
  const states = async () => (await headless.rpc('devices.list', {})).map(({ state }) => state)
  await expect.poll(states, { timeout: followMs }).toEqual(Object.values(cameras).map(() => 'joined'))
  return roomId
}

/**
 * A room whose cameras are recorded for every reason there is, while faults happen: `gate` by an order that lasts, with a live link; `door` by orders that come and go, `hall` by live
 * streams that come and go, `porch` by the button. Beside it, rooms open and close by schedules.
 */
export class BusySite {
  readonly #site: ControllersSite
  readonly #roomId: string
  readonly #folder: string | undefined
  readonly #lasting: MediaOrders
  readonly #manual: MediaOrders
  readonly #lives: MediaOrders
  readonly #button: RecordButton
  readonly #meetings: ScheduledMeetings
  readonly #played = new PlayedFiles()
  readonly #followed: number[] = []
  /** Orders of recordings whose media was seen to grow. */
  readonly #recorded = new Set<string>()
  #playlist = ''

  /** @param folder of the recordings; left out: each controller has its own */
  constructor({ site, clients }: Proof, roomId: string, { folder, random }: { folder?: string; random: () => number }) {
    this.#site = site
    this.#roomId = roomId
    this.#folder = folder
    const parts = { url: () => urlOf(site, random), token: clients.token, random }
    this.#lasting = new MediaOrders('recording', { roomId, userId: cameras.gate }, parts)
    this.#manual = new MediaOrders('recording', { roomId, userId: cameras.door }, parts)
    this.#lives = new MediaOrders('live', { roomId, userId: cameras.hall }, parts)
    this.#button = new RecordButton(site, { roomId, userId: cameras.porch }, random)
    this.#meetings = new ScheduledMeetings(site)
  }

  async start(): Promise<void> {
    const leader = await this.#site.leader()
    await this.#lasting.begin()
    const api = new ApiClient(leader.headless.ready, credential)
    await api.authenticate()
    const link = await api.get('/rtc/live/link', { room_id: this.#roomId, user_id: cameras.gate, ttl: 7_200 })
    this.#playlist = new URL(String(link.hls_url)).pathname
    this.#meetings.start()
    this.#resume()
    await this.agrees()
  }

  /** After a fault: every acknowledged change is stored, and the recorder of the leader follows it within `followMs`. */
  async agrees(): Promise<void> {
    await this.#pause()
    const leader = await this.#site.leader()
    const began = performance.now()
    const due = await this.#due(leader)
    await vi.waitFor(async () => await this.#follows(await this.#site.leader(), due), {
      timeout: followMs,
      interval: 200,
    })
    this.#followed.push(performance.now() - began)
    for (const order of due.orders) this.#recorded.add(order)
    await this.#plays(leader)
    await this.#played.play(this.#folderOf(leader))
    this.#resume()
  }

  /** Ends everything, and compares histories, files and event log once more. */
  async finish(): Promise<void> {
    const orders = [this.#lasting, this.#manual, this.#lives]
    await this.#pause()
    await this.#meetings.stop()
    const leader = await this.#site.leader()
    await this.#due(leader)
    for (const each of orders) {
      await each.end()
      each.close()
    }
    await this.#button.release()
    await vi.waitFor(async () => await this.#hasEnded(), { timeout: endMs, interval: 500 })
    await this.#due(leader)
    await this.#expectFiles(leader)
    await this.#auditAll()
    await this.#auditOrders()
    const meetings = await this.#meetings.areLoggedOnce()
    await this.#expectEvents(orders)
    await this.#verifyLogs()
    const worst = Math.round(Math.max(...this.#followed))
    console.info(
      `${orders.map(({ summary }) => summary).join('; ')}; ${this.#played.count} files play, ${meetings} meetings; the recorder followed within ${worst} ms`,
    )
  }

  #resume(): void {
    for (const each of [this.#manual, this.#lives, this.#button]) each.resume()
  }

  async #pause(): Promise<void> {
    await Promise.all([this.#manual, this.#lives, this.#button].map((each) => each.pause()))
  }

  /** Compares what is stored with the histories. */
  async #due(leader: SiteController): Promise<Due> {
    const recordings = await recordingsOf(leader)
    const { headless } = leader
    const lives = await pages((offset) => headless.rpc('orders.lives', { offset, limit: 500 }))
    const { items: targets } = await headless.rpc('recordings.states', { room_ids: [this.#roomId] })
    const isPressed = targets.some(({ user_id, by }) => user_id === cameras.porch && by === 'operator')
    this.#button.compare(isPressed)
    const ofUser = (user: string) => recordings.filter(({ user_id }) => user_id === user)
    const lasting = this.#lasting.compare(ofUser(cameras.gate))
    const manual = this.#manual.compare(ofUser(cameras.door))
    const active = {
      [cameras.gate]: lasting.length > 0,
      [cameras.door]: manual.length > 0,
      [cameras.porch]: isPressed,
    }
    const isLive = this.#lives.compare(lives).length > 0
    const named = (wanted: boolean) => Object.entries(active).flatMap(([name, is]) => (is === wanted ? [name] : []))
    // A live stream that has ended is recorded until its viewers have left.
    const recorded = [...named(true), ...(isLive ? [cameras.hall] : [])]
    return { orders: [...lasting, ...manual], recorded, idle: named(false) }
  }

  /** @throws Error unless exactly these cameras are recorded, by their files and by the leader's word */
  async #follows(leader: SiteController, { recorded, idle }: Due): Promise<void> {
    const folder = this.#folderOf(leader)
    const before = await openSizes(folder)
    await sleep(lookMs)
    const after = await openSizes(folder)
    const growing = recorded.filter((user) => (after.get(user) ?? 0) > (before.get(user) ?? 0))
    const open = idle.filter((user) => after.has(user))
    const { items } = await leader.headless.rpc('recordings.states', { room_ids: [this.#roomId] })
    const told = items.filter(({ recording }) => recording).map(({ user_id }) => user_id)
    const seen = { leader: leader.name, growing, open, told: told.filter((user) => user !== cameras.hall).sort() }
    const wanted = {
      leader: leader.name,
      growing: recorded,
      open: [],
      told: recorded.filter((user) => user !== cameras.hall).sort(),
    }
    expect(seen, JSON.stringify(items)).toEqual(wanted)
  }

  /** The live link shows fragments at this leader. */
  async #plays({ headless }: SiteController): Promise<void> {
    await vi.waitFor(
      async () => {
        const answer = await fetch(headless.ready.media + this.#playlist)
        expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('#EXTINF')])
      },
      { timeout: followMs, interval: 300 },
    )
  }

  /** @throws Error while something is recorded or a file is being made */
  async #hasEnded(): Promise<void> {
    const leader = await this.#site.leader()
    const states = new Set((await recordingsOf(leader)).map(({ state }) => state))
    expect([...states].filter((state) => state !== 'available' && state !== 'failed')).toEqual([])
    expect([...(await openSizes(this.#folderOf(leader))).keys()]).toEqual([])
  }

  /** An order whose media was seen has a file; a controller with a folder of its own may hold none of it. */
  async #expectFiles(leader: SiteController): Promise<void> {
    if (this.#folder === undefined) return
    const failed = (await recordingsOf(leader)).filter(({ id, state }) => state === 'failed' && this.#recorded.has(id))
    expect(failed).toEqual([])
  }

  /** Each controller leads once: its files play and agree with its index, and no two recorded one camera at the same time. */
  async #auditAll(): Promise<void> {
    const all: Awaited<ReturnType<typeof indexOf>> = []
    for (const controller of this.#site.controllers) {
      const leader = await this.#site.leader()
      if (leader !== controller) await handOver(this.#site, leader, controller)
      await expect.poll(async () => (await this.#site.leader()).name, { timeout: followMs }).toBe(controller.name)
      const folder = this.#folderOf(controller)
      const index = async () => {
        const pieces = await indexOf(controller)
        expect(await differences(folder, pieces)).toEqual([])
        return pieces
      }
      const pieces = await vi.waitFor(index, { timeout: endMs, interval: 500 })
      await this.#played.play(folder)
      await this.#played.playOrdered(folder)
      if (this.#folder === undefined) all.push(...pieces)
      else all.splice(0, all.length, ...pieces)
    }
    expect(overlaps(all)).toEqual([])
  }

  /** Files of orders agree with their recordings once every controller has led: it deletes files of deleted ones in its own folder. */
  async #auditOrders(): Promise<void> {
    const folders = new Set(this.#site.controllers.map((controller) => this.#folderOf(controller)))
    const agree = async () =>
      expect(await orderDifferences(folders, await recordingsOf(await this.#site.leader()))).toEqual([])
    await vi.waitFor(agree, { timeout: endMs, interval: 500 })
  }

  /** Each change of an order and by the button that is stored is in the event log once, and no other. */
  async #expectEvents(orders: readonly MediaOrders[]): Promise<void> {
    const differing = async () => {
      const events = await loggedEvents(await this.#site.leader(), { groups: ['recordings'] })
      return [...orderEventDifferences(orders, events), ...this.#button.eventDifferences(events)]
    }
    await expect.poll(differing, { timeout: followMs, interval: 1_000 }).toEqual([])
  }

  /** The chains of the site's log and of each controller's own hold. */
  async #verifyLogs(): Promise<void> {
    const [first] = this.#site.controllers
    if (first === undefined) return
    for (const { headless } of this.#site.controllers) {
      const flags = ['--data-dir', headless.folder, '--store', this.#site.address]
      const key = ['--seal-key', join(first.headless.folder, 'seal.key')]
      // Rejects with the verdict if its exit code is 1.
      await run(process.execPath, [program, ...flags, ...key, '--verify-log'])
    }
  }

  #folderOf({ headless }: SiteController): string {
    return this.#folder ?? join(headless.folder, 'recordings')
  }
}

/** Media API of any controller. */
function urlOf({ controllers }: ControllersSite, random: () => number): string {
  const controller = controllers[Math.floor(random() * controllers.length)]
  if (controller === undefined) throw new Error('The site has no controller.')
  return controller.headless.ready.media
}

/** All ordered recordings. */
async function recordingsOf({ headless }: SiteController): Promise<OrderedRecording[]> {
  return await pages((offset) => headless.rpc('orders.recordings', { offset, limit: 500 }))
}

/** Reads all pages of a list. */
async function pages<T>(page: (offset: number) => Promise<{ total: number; items: T[] }>): Promise<T[]> {
  const all: T[] = []
  for (;;) {
    const { total, items } = await page(all.length)
    all.push(...items)
    if (all.length >= total || items.length === 0) return all
  }
}
