import { shownName } from '../../shared/control-character.ts'
import { versionOf } from '../store/edits/record-version.ts'
import type { StoredDevice } from '../store/records.ts'
import { listedOptions } from './device-options.ts'
import type { JoinFailure, Reconnector } from './reconnect.ts'
import type { DeviceView } from '../../shared/domain/devices.ts'

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
