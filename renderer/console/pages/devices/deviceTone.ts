import type { DeviceView } from '../../../../shared/domain/devices.ts'

/**
 * Condition of a device, for the filter of the list. An attempt to join counts as "not joined", like the delay before
 * it, so that a row does not move between the two.
 */
export type DeviceCondition = 'joined' | 'down' | 'paused'

export function conditionOf(device: Pick<DeviceView, 'state'>): DeviceCondition {
  if (device.state === 'joined' || device.state === 'paused') return device.state
  return 'down'
}

/**
 * Colour of a device's state.
 * @param warned whether its media has a fault
 */
export function deviceTone({ state, last_error }: Pick<DeviceView, 'state' | 'last_error'>, warned = false) {
  if (state === 'joined') return warned ? 'warn' : 'ok'
  if (state === 'paused') return 'idle'
  if (state === 'joining') return 'busy'
  return last_error === null ? 'busy' : 'bad'
}
