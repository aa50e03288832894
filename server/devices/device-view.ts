import { shownName } from '../../shared/control-character.ts'
import type { DeviceMoment, DeviceView } from '../../shared/domain/devices.ts'
import { versionOf } from '../store/record-edits.ts'
import type { StoredDevice } from '../store/records.ts'
import type { DeviceFleet } from './device-fleet.ts'
import { listedOptions } from './device-options.ts'
import type { JoinFailure, Reconnector } from './reconnect.ts'

/**
 * Returns the view of a device and its state for the console, without the password.
 * @param roomTopic topic of the room; empty: the room was deleted
 */
export function deviceViewOf(
  device: StoredDevice,
  roomTopic: string,
  reconnector: Reconnector | undefined,
): DeviceView {
  const failure = reconnector?.lastError
  return {
    roomId: device.roomId,
    roomTopic: shownName(roomTopic),
    userId: device.userId,
    userName: shownName(device.userName),
    userAddress: device.userAddress,
    userData: device.userData,
    options: listedOptions(device),
    tags: [...(device.tags ?? [])],
    state: reconnector?.state ?? (device.paused ? 'paused' : 'waiting'),
    last_error: failure === undefined ? null : errorOf(failure),
    retries: reconnector?.retries ?? 0,
    next_attempt_at: reconnector?.nextAttemptAt ?? 0,
    since: reconnector?.since ?? device.created_at,
    created_at: device.created_at,
    version: versionOf('device', device),
  }
}

function errorOf({
  kind,
  message,
  detail = '',
  at,
}: JoinFailure & { at: number }): NonNullable<DeviceView['last_error']> {
  return { kind, message, detail, at }
}

/** Maximum number of entries kept per device. */
const kept = 30

/** Fields of a device that its history follows. */
type FollowedView = Pick<DeviceView, 'state' | 'last_error' | 'retries' | 'since'>

interface FollowedDevices {
  /** Returns a device; undefined if it was deleted. */
  view(userId: string): FollowedView | undefined
}

/**
 * History of each device since the start of the controller: when it joined, was lost or was paused, and why. In memory
 * and limited. Consecutive failures with the same reason are combined into one entry, so that a camera that is offline
 * all night does not displace earlier events.
 */
export class DeviceHistory {
  readonly #devices: FollowedDevices
  readonly #byDevice = new Map<string, DeviceMoment[]>()

  constructor(fleet: Pick<DeviceFleet, 'onChange'>, devices: FollowedDevices) {
    this.#devices = devices
    fleet.onChange((userId) => this.#follow(userId))
  }

  /** Returns the entries of a device, newest first. */
  of(userId: string): DeviceMoment[] {
    return this.#byDevice.get(userId)?.toReversed() ?? []
  }

  #follow(userId: string): void {
    const view = this.#devices.view(userId)
    if (view === undefined) {
      this.#byDevice.delete(userId)
      return
    }
    const entry = momentOf(view)
    if (entry === undefined) return
    const entries = this.#byDevice.get(userId) ?? []
    this.#byDevice.set(userId, entries)
    const last = entries.at(-1)
    if (last?.state !== entry.state || last.kind !== entry.kind) {
      entries.push(entry)
      if (entries.length > kept) entries.shift()
    } else if (entry.until > last.until) {
      last.until = entry.until
      last.times += 1
    }
  }
}

/** Returns the entry for a state; undefined: no entry is needed, as during an attempt or before the first failure. */
function momentOf({ state, last_error, since }: FollowedView): DeviceMoment | undefined {
  if (state === 'joined' || state === 'paused') return { state, kind: null, at: since, until: since, times: 1 }
  if (state !== 'waiting' || last_error === null) return undefined
  return { state, kind: last_error.kind, at: last_error.at, until: last_error.at, times: 1 }
}
