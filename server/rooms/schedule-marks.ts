import { ApiError } from '../../shared/result-codes.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { fromFirstMeeting } from '../schedule/meetings.ts'
import { hoursOf, opensNext, type ScheduledRoom, type ScheduleMark } from '../schedule/room-hours.ts'
import type { RoomSchedule } from '../../shared/schedule/room-schedule.ts'
import { wallOf } from '../../shared/schedule/wall-clock.ts'
import type { StoredRoom } from '../store/records.ts'
import { putEvent } from '../store/transactions/job.ts'
import type { Store, Transaction } from '../store/store.ts'
import { lockOf } from './room-record.ts'

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

/**
 * Stores the change that is due by the schedule, together with its event. One transaction ensures that the change is
 * applied and reported exactly once, whichever controller is the leader.
 * @param isEmpty whether the room is empty
 * @returns the stored mark; undefined: nothing was due
 */
export async function markDue(
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
export function dueMark(
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
