import type { DeviceView } from '../../../../shared/console/devices.ts'

/** How a device does, for the filter of the list: an attempt under way is as much "not joined" as the wait before it, so that a row stays where it is between two attempts. */
export type DeviceCondition = 'joined' | 'down' | 'paused'

export function conditionOf(device: Pick<DeviceView, 'state'>): DeviceCondition {
  if (device.state === 'joined' || device.state === 'paused') return device.state
  return 'down'
}

/**
 * Colour of a device's state.
 * @param warned whether something is amiss with what it sends
 */
export function deviceTone({ state, last_error }: Pick<DeviceView, 'state' | 'last_error'>, warned = false) {
  if (state === 'joined') return warned ? 'warn' : 'ok'
  if (state === 'paused') return 'idle'
  if (state === 'joining') return 'busy'
  return last_error === null ? 'busy' : 'bad'
}
