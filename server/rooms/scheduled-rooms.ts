import { refusal } from '../../shared/refusals/refusal.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { RoomSchedule } from '../../shared/schedule/room-schedule.ts'
import { wallOf } from '../../shared/schedule/wall-clock.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type { SiteNodes } from '../nodes/pool/site-nodes.ts'
import type { PresenceView } from '../nodes/pool/state/presence.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { PoolEventSource } from '../nodes/port/pool-events.ts'
import { fromFirstMeeting } from '../schedule/meetings.ts'
import { hoursOf, opensNext, type ScheduledRoom, type ScheduleMark } from '../schedule/room-hours.ts'
import type { StoredRoom } from '../store/records.ts'
import type { Store, Transaction } from '../store/store.ts'
import { putEvent } from '../store/transactions/job.ts'
import { DueRooms } from './due-rooms.ts'
import { lockOf } from './room-record.ts'

export interface ScheduledRoomsOptions {
  store: Store
  presence: Pick<PresenceView, 'peopleIn'>
  nodes: Pick<SiteNodes, 'asked'>
  events: PoolEventSource
  logger: NodeLogger
  /** Returns the current time, in milliseconds since the epoch. */
  clock?: (() => number) | undefined
  /** Replaces `graceMs`, for tests. */
  grace?: number | undefined
}

/** Maximum time between two checks of the clock, in milliseconds. Limited because the clock may be adjusted. */
const lookMs = 15_000
/**
 * Time without people after which an overrun meeting ends, in milliseconds. A person with a lost connection may return,
 * and a new leader may not have received all participants yet.
 */
const graceMs = 10_000
/** Minimum decrease of the clock that counts as an adjustment, in milliseconds. */
const backMs = 1_000
/** Delay before retrying a change that could not be stored, in milliseconds. */
const retryMs = 5_000

/**
 * Stores the changes that are due by the schedules of rooms, so that nodes and cameras react to them. (`isShut` depends
 * only on the clock.) Runs in the leading controller. Due times are always computed from the clock, so a missed start
 * is applied later, and an adjusted clock takes effect at once.
 */
export class ScheduledRooms {
  readonly #options: ScheduledRoomsOptions
  readonly #clock: () => number
  readonly #grace: number
  /** Time of the next check of each scheduled room. */
  readonly #due = new DueRooms()
  /** Start of the next meeting of each scheduled room. */
  readonly #starts = new DueRooms()
  readonly #stops: (() => void)[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  #lookedAt = 0
  #startedAt = 0

  constructor(options: ScheduledRoomsOptions) {
    this.#options = options
    this.#clock = options.clock ?? Date.now
    this.#grace = options.grace ?? graceMs
  }

  start(): void {
    const { store, events } = this.#options
    this.#startedAt = this.#clock()
    this.#lookedAt = this.#startedAt
    this.#lookAtAll()
    this.#stops.push(
      store.onChange(
        (changes) => {
          const { first } = this.#due
          for (const { collection, key, value } of changes) {
            if (collection !== 'rooms') continue
            if (value?.schedule !== undefined) this.#lookAt(key, this.#clock())
            else this.#forget(key)
          }
          if (this.#due.first !== first) this.#arm()
        },
        ['rooms'],
      ),
      events.subscribe((event) => {
        if (event.type === 'left') this.#left(event.roomId)
      }),
    )
    this.#arm()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const stop of this.#stops.splice(0)) stop()
  }

  /** Returns the next meetings that start before a moment, the earliest first. */
  coming(before: number, max: number): { roomId: string; at: number }[] {
    return this.#starts.until(before, max)
  }

  #lookAtAll(): void {
    const now = this.#clock()
    for (const [roomId, { schedule }] of this.#options.store.all('rooms'))
      if (schedule !== undefined) this.#lookAt(roomId, now)
  }

  #forget(roomId: string): void {
    this.#due.delete(roomId)
    this.#starts.delete(roomId)
  }

  /** Records the time of the room's next change, and applies a change that is already due. */
  #lookAt(roomId: string, now: number): void {
    const room = this.#options.store.get('rooms', roomId)
    if (room?.schedule === undefined) return this.#forget(roomId)
    const hours = hoursOf(room.schedule, room.schedule_mark, now)
    this.#starts.set(roomId, hours.next?.start ?? Number.POSITIVE_INFINITY)
    this.#due.set(roomId, hours.changesAt)
    if (room.closed) return
    if (hours.overrun && now < this.#startedAt + this.#grace && now >= this.#startedAt)
      return this.#due.set(roomId, this.#startedAt + this.#grace)
    if (dueMark(room.schedule, room, now, this.#isEmpty(roomId)) !== undefined) mustNotFail(this.#perform(roomId))
  }

  /** Handles the departure of a participant: an overrun meeting may end. */
  #left(roomId: string): void {
    const room = this.#options.store.get('rooms', roomId)
    if (room?.schedule === undefined || !this.#isEmpty(roomId)) return
    const now = this.#clock()
    if (!hoursOf(room.schedule, room.schedule_mark, now).overrun) return
    this.#due.set(roomId, now + this.#grace)
    this.#arm()
  }

  #isEmpty(roomId: string): boolean {
    return this.#options.presence.peopleIn(roomId) === 0
  }

  async #perform(roomId: string): Promise<void> {
    const { store, nodes, logger } = this.#options
    try {
      await nodes.asked(roomId)
      await markDue(store, roomId, { now: this.#clock(), isEmpty: this.#isEmpty(roomId) })
    } catch (error) {
      // The room was deleted meanwhile, or this controller is no longer the leader.
      if (error instanceof ApiError && error.code !== 'storage') return
      logger.warn({ err: error, room: roomId }, 'a scheduled room was not changed: retrying')
      if (this.#stops.length === 0) return
      this.#due.set(roomId, this.#clock() + retryMs)
      this.#arm()
    }
  }

  #tick(): void {
    const now = this.#clock()
    // The clock was set back: earlier changes may become due again.
    if (now < this.#lookedAt - backMs) this.#lookAtAll()
    this.#lookedAt = now
    for (let due = this.#due.first; due !== undefined && due.at <= now; due = this.#due.first) {
      this.#due.delete(due.roomId)
      this.#lookAt(due.roomId, now)
    }
    this.#arm()
  }

  #arm(): void {
    clearTimeout(this.#timer)
    if (this.#stops.length === 0) return
    const { first } = this.#due
    const wait = first === undefined ? lookMs : Math.min(lookMs, Math.max(0, first.at - this.#clock()))
    this.#timer = setTimeout(() => this.#tick(), wait)
    this.#timer.unref()
  }
}

/**
 * Stores the change that is due by the schedule, together with its event. One transaction ensures that the change is
 * applied and reported exactly once, whichever controller is the leader.
 * @param isEmpty whether the room is empty
 * @returns the stored mark; undefined: nothing was due
 */
async function markDue(
  store: Store,
  roomId: string,
  { now, isEmpty }: { now: number; isEmpty: boolean },
): Promise<ScheduleMark | undefined> {
  let due: ScheduleMark | undefined
  await mark(store, roomId, (room, transaction) => {
    due = room.schedule === undefined || room.closed ? undefined : dueMark(room.schedule, room, now, isEmpty)
    if (due === undefined) return room.schedule_mark
    const kind = due.state === 'open' ? 'room.openedBySchedule' : 'room.closedBySchedule'
    putEvent(transaction, { at: now, kind, subject: { type: 'room', id: roomId, name: room.topic } })
    return due
  })
  return due
}

/** Returns the change of a room that is due by its schedule; undefined: none. */
function dueMark(
  schedule: RoomSchedule,
  { schedule_mark: last }: ScheduledRoom,
  now: number,
  isEmpty: boolean,
): ScheduleMark | undefined {
  const { open, overrun, meeting } = hoursOf(schedule, last, now)
  if (!open) return last?.state === 'open' ? { start: last.start, state: 'ended' } : undefined
  if (meeting === undefined) return undefined
  const { start } = meeting
  if (overrun && isEmpty) return { start, state: 'ended' }
  return last?.start === start && last.state === 'open' ? undefined : { start, state: 'open' }
}

/** Opens a room for its next meeting before its start. @throws ApiError roomNotFound, roomClosed, parameter, storage */
export function openNow(store: Store, roomId: string, now: number): Promise<StoredRoom> {
  return mark(store, roomId, (room) => {
    if (room.closed) throw new ApiError('roomClosed')
    const { open, next } = hoursOf(scheduleOf(room), room.schedule_mark, now)
    if (open) return room.schedule_mark
    if (next === undefined) throw new ApiError('roomClosed', { refusal: refusal('roomOver') })
    return { start: next.start, state: 'open', by_operator: true }
  })
}

/** Ends the current meeting of a room early. @throws ApiError roomNotFound, parameter, storage */
export function endNow(store: Store, roomId: string, now: number): Promise<StoredRoom> {
  return mark(store, roomId, (room) => {
    const { open, meeting } = hoursOf(scheduleOf(room), room.schedule_mark, now)
    return open && meeting ? { start: meeting.start, state: 'ended', by_operator: true } : room.schedule_mark
  })
}

function scheduleOf(room: StoredRoom): RoomSchedule {
  if (room.schedule !== undefined) return room.schedule
  throw new ApiError('parameter', { field: 'room_id', refusal: refusal('roomNotScheduled') })
}

async function mark(
  store: Store,
  roomId: string,
  choose: (room: StoredRoom, transaction: Transaction) => ScheduleMark | undefined,
): Promise<StoredRoom> {
  return await store.transact([lockOf(roomId)], (transaction) => {
    const room = store.get('rooms', roomId)
    if (room === undefined) throw new ApiError('roomNotFound')
    const chosen = choose(room, transaction)
    if (chosen === undefined || chosen === room.schedule_mark) return room
    const marked: StoredRoom = { ...room, schedule_mark: chosen }
    transaction.put('rooms', roomId, marked)
    return marked
  })
}

/**
 * Returns the schedule in its stored form. @throws ApiError parameter if the schedule has no current or future meeting
 */
export function checkedSchedule(schedule: RoomSchedule, now: number): RoomSchedule {
  const first = fromFirstMeeting(schedule)
  const hours = first && hoursOf(first, undefined, now)
  if (first !== undefined && hours !== undefined && (hours.open || hours.next !== undefined)) return first
  throw new ApiError('parameter', { field: 'schedule', refusal: refusal('scheduleOver') })
}

/** Returns the error for a request to enter a closed room or a scheduled room outside its meetings. */
export function shutError(room: ScheduledRoom, now = Date.now()): ApiError {
  if (room.closed || room.schedule === undefined) return new ApiError('roomClosed')
  const at = opensNext(room, now)
  if (at === 0) return new ApiError('roomClosed', { refusal: refusal('roomOver') })
  const { zone } = room.schedule
  const time = `${new Date(wallOf(zone, at)).toISOString().slice(0, 16).replace('T', ' ')} (${zone})`
  return new ApiError('roomClosed', { refusal: refusal('roomNotOpenYet', { time }) })
}
