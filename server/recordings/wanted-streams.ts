import type { RecordingHours, RecordingRule } from '../../shared/recordings/recording-rule.ts'
import type { RecordedQuality } from '../../shared/recordings/segment.ts'
import type { RecordingSettings } from '../../shared/settings/recording.ts'
import { wallOf } from '../../shared/schedule/wall-clock.ts'
import type { StoredDevice } from '../store/records.ts'
import type { StoredManualRecording } from '../store/recording-records.ts'
import type { RecordingRequest } from './recording-control.ts'
import type { RecordingStarter } from '../../shared/domain/recordings.ts'

/** State of a room that determines its targets. */
export interface RecordingRoomFacts {
  /** Rule of the room; undefined: the site's rule applies. */
  rule: RecordingRule | undefined
  /** Number of people in the room, excluding cameras. */
  people: number
  /** Whether the room has any participant, including cameras. */
  occupied: boolean
  devices: readonly StoredDevice[]
  manuals: readonly StoredManualRecording[]
  requests: readonly RecordingRequest[]
}

/** Room, camera or person that should be recorded. */
export interface WantedTarget {
  /** Camera or person; empty: the whole room. */
  userId: string
  device: boolean
  quality: RecordedQuality
  by: RecordingStarter
  startedBy: string
  /**
   * Time for which segments are kept after their end, in milliseconds, if the target is recorded only for live viewing.
   * undefined: the retention applies.
   */
  windowMs: number | undefined
}

/** Returns the rule in force for a room or camera. */
function effectiveRule(own: RecordingRule | undefined, site: RecordingRule): RecordingRule {
  return own ?? site
}

/** Computes the targets of a room. @param now milliseconds since the epoch */
export function wantedOf(facts: RecordingRoomFacts, settings: RecordingSettings, now: number): WantedTarget[] {
  const targets: WantedTarget[] = []
  const room = wantedRoom(facts, settings, now)
  if (room !== undefined) targets.push(room)
  const devices = new Map(facts.devices.map((device) => [device.userId, device]))
  for (const device of facts.devices) {
    const target = wantedCamera(device, facts, settings, now)
    if (target !== undefined) targets.push(target)
  }
  for (const { user_id: userId, by, name } of facts.manuals) {
    if (userId === '' || devices.has(userId)) continue
    targets.push({ userId, device: false, quality: 'main', by, startedBy: name, windowMs: undefined })
  }
  for (const request of facts.requests) {
    const { userId, windowMs } = request
    if (userId === undefined || devices.has(userId) || targets.some((target) => target.userId === userId)) continue
    targets.push({ userId, device: false, quality: 'main', ...starterOf([request]), windowMs })
  }
  return targets
}

/** Whether the rules of a room depend on the clock. */
export function dependsOnClock({ rule, devices }: RecordingRoomFacts, settings: RecordingSettings): boolean {
  return (
    effectiveRule(rule, settings.rooms).when === 'hours' ||
    devices.some(({ recording }) => effectiveRule(recording, settings.cameras).when === 'hours')
  )
}

function wantedRoom(facts: RecordingRoomFacts, settings: RecordingSettings, now: number): WantedTarget | undefined {
  const found = wanted(
    effectiveRule(facts.rule, settings.rooms),
    facts,
    now,
    facts.manuals.find(({ user_id }) => user_id === ''),
    facts.requests.filter(({ userId }) => userId === undefined),
  )
  // A room rule applies only while the room has participants: an empty room has no streams.
  if (found === undefined || (found.by === 'rule' && !facts.occupied)) return undefined
  return { userId: '', device: false, quality: 'main', ...found }
}

function wantedCamera(
  device: StoredDevice,
  facts: RecordingRoomFacts,
  settings: RecordingSettings,
  now: number,
): WantedTarget | undefined {
  if (device.paused) return undefined
  const rule = effectiveRule(device.recording, settings.cameras)
  const requests = facts.requests.filter(({ userId }) => userId === device.userId)
  const manual = facts.manuals.find(({ user_id }) => user_id === device.userId)
  const found = wanted(rule, facts, now, manual, requests)
  if (found === undefined) return undefined
  const asked = found.by === 'rule' || manual !== undefined ? undefined : requests[0]?.quality
  return { userId: device.userId, device: true, quality: asked ?? rule.quality ?? 'main', ...found }
}

function wanted(
  rule: RecordingRule,
  { people }: RecordingRoomFacts,
  now: number,
  manual: StoredManualRecording | undefined,
  requests: readonly RecordingRequest[],
): Pick<WantedTarget, 'by' | 'startedBy' | 'windowMs'> | undefined {
  if (manual !== undefined) return { by: manual.by, startedBy: manual.name, windowMs: undefined }
  if (holds(rule, people, now)) return { by: 'rule', startedBy: '', windowMs: undefined }
  if (requests.length === 0) return undefined
  const windows = requests.map(({ windowMs }) => windowMs ?? Number.POSITIVE_INFINITY)
  const maxWindow = Math.max(...windows)
  return { ...starterOf(requests), windowMs: maxWindow === Number.POSITIVE_INFINITY ? undefined : maxWindow }
}

/** Returns the author of the first request that has an author; viewers of a live stream have no name. */
function starterOf(requests: readonly RecordingRequest[]): Pick<WantedTarget, 'by' | 'startedBy'> {
  const order = requests.find(({ orderedBy }) => orderedBy !== undefined)?.orderedBy
  return order === undefined ? { by: 'client', startedBy: '' } : { by: order.by, startedBy: order.name }
}

function holds({ when, hours = [] }: RecordingRule, people: number, now: number): boolean {
  if (when === 'always') return true
  if (when === 'occupied') return people > 0
  return when === 'hours' && isWithinHours(hours, now)
}

const minuteMs = 60_000
const dayMinutes = 24 * 60

/** Whether a time is within weekly hours, in their time zone. @param now milliseconds since the epoch */
export function isWithinHours(hours: readonly RecordingHours[], now: number): boolean {
  return hours.some((each) => isWithin(each, now))
}

function isWithin({ days, from, to, zone }: RecordingHours, now: number): boolean {
  const wall = wallOf(zone, now)
  const minute = Math.floor(wall / minuteMs) % dayMinutes
  const [start, end] = [minuteOf(from), minuteOf(to)]
  if (start < end) return days.includes(weekday(wall)) && minute >= start && minute < end
  // The range spans midnight: the evening of a listed day, or the morning after it. Equal times mean 24 hours.
  const yesterday = weekday(wall - dayMinutes * minuteMs)
  return (days.includes(weekday(wall)) && minute >= start) || (days.includes(yesterday) && minute < end)
}

function minuteOf(time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number)
  return hour * 60 + minute
}

/** Returns the day of the week: 1 is Monday, 7 is Sunday. */
function weekday(wall: number): number {
  return new Date(wall).getUTCDay() || 7
}
