import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { EventEntry } from '../../../shared/domain/events.ts'
import type { ControllersSite, SiteController } from '../sites/controllers-site.ts'
import { changingCall } from './changing-call.ts'
import { loggedEvents } from './logged-events.ts'

/** Interval between two rooms, in milliseconds. */
const everyMs = 3_000
/** Length of a meeting: the shortest that a schedule takes. */
const meetingMs = 60_000
/** Remaining time of a meeting that has begun when its room is created, in milliseconds: longer than any time without a leader. */
const remainingMs = 25_000
/** Time after which a change by schedule has to be in the event log, in milliseconds. */
const loggedMs = 30_000

/** Rooms that open and close by their schedules every few seconds, at a site that is harmed meanwhile. */
export class ScheduledMeetings {
  readonly #site: ControllersSite
  /** Topics of rooms whose creation was acknowledged, with the end of their meeting, in milliseconds since the epoch. */
  readonly #created = new Map<string, { roomId: string; ends: number }>()
  readonly #ending = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #count = 0

  constructor(site: ControllersSite) {
    this.#site = site
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    await this.#running
  }

  /** Waits for the end of every meeting; then each opening and closing is in the event log once. @returns the number of meetings */
  async areLoggedOnce(): Promise<number> {
    const last = Math.max(Date.now(), ...Array.from(this.#created.values(), ({ ends }) => ends))
    await sleep(last - Date.now())
    const wrong = async (): Promise<string[]> => {
      const counts = await countsOf(await this.#site.leader())
      const unlogged = Array.from(this.#created.values()).flatMap(({ roomId }) =>
        kinds.filter((kind) => !counts.has(`${roomId} ${kind}`)).map((kind) => `${roomId} ${kind}: 0`),
      )
      return [...unlogged, ...[...counts].filter(([, count]) => count > 1).map(([what, count]) => `${what}: ${count}`)]
    }
    await expect.poll(wrong, { timeout: loggedMs, interval: 1_000 }).toEqual([])
    return this.#created.size
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending
    while (!signal.aborted) {
      await this.#create(`meeting ${++this.#count}`).catch(() => undefined)
      await sleep(everyMs, undefined, { signal }).catch(() => undefined)
    }
  }

  /** Creates a room; without an answer, it may exist or not. */
  async #create(topic: string): Promise<void> {
    // One that has begun opens at once; every third opens in a second.
    const start = Date.now() + (this.#count % 3 === 0 ? 1_000 : remainingMs - meetingMs)
    const created = await changingCall(this.#site, 'rooms.create', {
      topic,
      schedule: {
        start: new Date(start).toISOString().slice(0, 19),
        ...{ minutes: meetingMs / 60_000, zone: 'UTC', early_minutes: 0, overrun_minutes: 0 },
      },
    })
    if (created !== undefined) this.#created.set(topic, { roomId: created.room_id, ends: start + meetingMs })
  }
}

const kinds: readonly EventEntry['kind'][] = ['room.openedBySchedule', 'room.closedBySchedule']

/** Number of events by room and kind. */
async function countsOf(controller: SiteController): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const { kind, subject } of await loggedEvents(controller, { groups: ['rooms'], text: 'BySchedule' })) {
    const key = `${subject.id} ${kind}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}
