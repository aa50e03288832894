import type { EventFields } from '../../../shared/domain/events.ts'
import type { EventDraft, EventSink } from '../event-log.ts'
import type { DeviceView } from '../../../shared/domain/devices.ts'

export interface DeviceSources {
  /** `onChange` calls the listener with the userId whenever a device is added, changed or removed. */
  readonly fleet: { onChange(listener: (userId: string) => void): () => void }
  /** Returns the state of a device; undefined: no such device. */
  view(userId: string): Pick<DeviceView, 'roomId' | 'userId' | 'userName' | 'state' | 'last_error'> | undefined
}

interface Known {
  state: 'joined' | 'waiting' | 'paused'
  /** Reason why the device is not joined; empty: joined or paused. */
  reason: string
  /** Response of the device, with the request; undefined: unknown. */
  detail?: string
  /** Time since which the device is not joined, in milliseconds since the epoch; 0: joined. */
  outSince: number
}

/**
 * Logs when devices join, are lost and fail, with the reason: once per reason, not per attempt. Returns the unsubscribe
 * function.
 */
export function watchDevices(devices: DeviceSources, sink: EventSink, clock: () => number = Date.now): () => void {
  const known = new Map<string, Known>()
  return devices.fleet.onChange((userId) => {
    const view = devices.view(userId)
    if (view === undefined) return void known.delete(userId)
    const before = known.get(userId)
    const after = knownOf(view, before, clock())
    if (after === undefined || (before?.state === after.state && before.reason === after.reason)) return
    known.set(userId, after)
    sink.append(draftOf(view, before, after, clock()))
  })
}

/**
 * Returns the new state; undefined: nothing to log (an attempt is in progress, or the device waits without an error).
 */
function knownOf(
  { state, last_error }: NonNullable<ReturnType<DeviceSources['view']>>,
  before: Known | undefined,
  now: number,
): Known | undefined {
  if (state === 'joined') return { state, reason: '', outSince: 0 }
  const outSince = before === undefined || before.outSince === 0 ? now : before.outSince
  if (state === 'paused') return { state, reason: '', outSince }
  if (state !== 'waiting' || last_error === null) return undefined
  return { state, reason: last_error.kind, detail: last_error.detail, outSince }
}

function draftOf(
  { roomId, userId, userName }: NonNullable<ReturnType<DeviceSources['view']>>,
  before: Known | undefined,
  after: Known,
  now: number,
): EventDraft {
  const subject = { type: 'device', id: userId, name: userName } as const
  const about = { subject, room: roomId }
  if (after.state === 'joined') {
    const away: EventFields = before === undefined || before.outSince === 0 ? {} : { away_ms: now - before.outSince }
    return { kind: 'device.joined', ...about, params: away }
  }
  if (after.state === 'paused') return { kind: 'device.paused', ...about }
  const kind = before?.state === 'joined' ? 'device.lost' : 'device.failed'
  return {
    kind,
    level: 'warning',
    ...about,
    params: { reason: after.reason, ...(after.detail ? { detail: after.detail } : {}) },
  }
}
