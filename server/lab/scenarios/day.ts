import { seededRandom } from '../../../shared/seeded-random.ts'
import { scenarioOf, type Scenario } from './format.ts'
import type { Step } from './step-schema.ts'

/** Numbers of what comes and goes in a day. */
export interface DaySize {
  rooms: number
  cameras: number
  people: number
}

export const usualDay: DaySize = { rooms: 10_000, cameras: 2_000, people: 20_000 }
/** Pace at which a day takes 15 minutes. */
export const usualDayPace = 96

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** Relative number of meetings that begin in each hour: two peaks, and a few at night. */
const hourly = [1, 1, 1, 1, 1, 2, 3, 5, 9, 12, 12, 10, 6, 9, 12, 12, 10, 7, 4, 3, 3, 2, 2, 1] as const
/** Length of a meeting, in milliseconds. */
const shortest = 10 * minuteMs
const longest = 90 * minuteMs
/** Interval between two comparisons of the site with what should be there, in milliseconds. */
const checkEveryMs = 15 * minuteMs
/** One meeting in so many is compared with its list of users. */
const oneIn = 20

interface DayMeeting {
  id: string
  from: number
  to: number
  people: number
  cameras: number
}

/** A change of the numbers on the site, at a time. */
interface Change {
  at: number
  rooms: number
  users: number
}

/**
 * Returns a day of a site as a scenario: meetings with people and cameras that come and go, most of them in office
 * hours. It has more steps than a file may have. The same size and seed give the same steps.
 */
export function dayOf(size: DaySize, seed: number): Scenario {
  const random = seededRandom(seed)
  const meetings = meetingsOf(size, random)
  const steps: Step[] = []
  const changes: Change[] = []
  for (const meeting of meetings) addMeeting(meeting, random, steps, changes)
  addChecks(steps, changes)
  const site = scenarioOf({
    format: 'roomdesk-scenario',
    version: 1,
    name: 'day',
    title: 'A day of a site',
    description: `In 24 hours come and go: ${size.rooms} rooms, ${size.cameras} cameras, ${size.people} people.`,
    seed,
    site: {
      credentials: [{ label: 'Lab client', access_key: 'lab_client', secret_key: 'lab_secret', p2p: true }],
      nodes: [1, 2, 3, 4].map((number) => ({ name: `Lab ${number}`, kind: 'simulated' })),
    },
    steps: [{ at: '0s', say: 'The day begins.', wait: '0ms' }],
  })
  return { ...site, steps: [...site.steps, ...steps] }
}

function meetingsOf({ rooms, cameras, people }: DaySize, random: () => number): DayMeeting[] {
  const total = hourly.reduce<number>((sum, share) => sum + share, 0)
  const meetings = Array.from({ length: rooms }, (_, index): DayMeeting => {
    let drawn = random() * total
    const hour = Math.max(
      0,
      hourly.findIndex((share) => (drawn -= share) < 0),
    )
    const from = Math.floor((hour + random()) * hourMs)
    const to = Math.min(dayMs, from + Math.floor(shortest + random() * (longest - shortest)))
    return { id: `day-${index + 1}`, from, to, people: 0, cameras: 0 }
  })
  const any = (): DayMeeting | undefined => meetings[Math.floor(random() * meetings.length)]
  for (let left = people; left > 0; left--) {
    const meeting = any()
    if (meeting !== undefined) meeting.people += 1
  }
  for (let left = cameras; left > 0; left--) {
    const meeting = any()
    if (meeting !== undefined) meeting.cameras += 1
  }
  return meetings
}

/** Adds the steps of a meeting and what they change. */
function addMeeting(
  { id, from, to, people, cameras }: DayMeeting,
  random: () => number,
  steps: Step[],
  changes: Change[],
): void {
  const api = (at: number, say: string, operation: string, params: Record<string, string>, answer = {}): void => {
    steps.push({ kind: 'api', at, say, api: operation, params, ret: 0, answer, keep: {}, times: 1 })
  }
  const call = (at: number, say: string, procedure: string, input: Record<string, string>): void => {
    steps.push({ kind: 'call', at, say, call: procedure, input, keep: {} })
  }
  api(from, `Room ${id} is created.`, 'create_room', {
    ...{ topic: `Meeting ${id}`, owner_id: 'lab', room_mode: '1', room_extend_id: id },
  })
  api(from, `Room ${id} gets an MCU.`, 'get_mcu', { room_id: id })
  changes.push({ at: from, rooms: 1, users: 0 }, { at: to, rooms: -1, users: 0 })
  // Everybody is there in the middle of the meeting.
  const middle = Math.floor((from + to) / 2)
  const stay = (): [comes: number, goes: number] => {
    const [comes, goes] = [from + random() * (middle - from), middle + 1 + random() * (to - middle - 1)]
    changes.push({ at: Math.floor(comes), rooms: 0, users: 1 }, { at: Math.floor(goes), rooms: 0, users: -1 })
    return [Math.floor(comes), Math.floor(goes)]
  }
  const present: string[] = []
  for (let number = 1; number <= people; number++) {
    const user = { room_id: id, user_id: `${id}-${number}` }
    present.push(user.user_id)
    const [comes, goes] = stay()
    call(comes, `Person ${user.user_id} joins.`, 'lab.join', { ...user, user_name: `Person ${number}` })
    call(goes, `Person ${user.user_id} leaves.`, 'lab.leave', user)
  }
  for (let number = 1; number <= cameras; number++) {
    const device = { roomId: id, userId: `${id}-cam-${number}`, userAddress: `rtsp://192.0.2.${number}/${id}` }
    present.push(device.userId)
    const [comes, goes] = stay()
    api(comes, `Camera ${device.userId} joins.`, 'create_outgoing_user', { ...device, userName: `Camera ${number}` })
    api(goes, `Camera ${device.userId} is removed.`, 'destroy_outgoing_user', device)
  }
  if (random() < 1 / oneIn) {
    const user_list = present.map((user_id) => ({ user_id }))
    api(middle, `Everybody is in room ${id}.`, 'list_users', { room_id: id }, { user_list })
  }
  api(to, `Room ${id} is deleted.`, 'delete_room', { room_id: id })
}

/** Adds comparisons of the numbers that the console shows with those that should be there. */
function addChecks(steps: Step[], changes: readonly Change[]): void {
  const ordered = changes.toSorted((one, other) => one.at - other.at)
  let next = 0
  let [rooms, users] = [0, 0]
  for (let at = checkEveryMs; at <= dayMs; at += checkEveryMs) {
    for (; (ordered[next]?.at ?? Infinity) <= at; next++) {
      rooms += ordered[next]?.rooms ?? 0
      users += ordered[next]?.users ?? 0
    }
    const say = `At ${new Date(at).toISOString().slice(11, 16)} the numbers are right: rooms ${rooms}, users ${users}.`
    const reads = { at, input: {}, keep: {} }
    steps.push(
      { kind: 'expect', ...reads, say, expect: 'licence.get', where: { rooms, users }, within: 5_000 },
      { kind: 'expect', ...reads, say: 'The console lists them.', expect: 'rooms.list', where: { total: rooms } },
      { kind: 'expect', ...reads, say: 'The console shows its overview.', expect: 'overview.get', where: undefined },
      { kind: 'expect', ...reads, say: 'The console lists the events.', expect: 'events.list', where: undefined },
    )
  }
}
