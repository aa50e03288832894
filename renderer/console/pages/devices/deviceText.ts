import { useFormat } from '../../composables/useFormat.ts'
import { useText } from '../../i18n/text.ts'
import type { DeviceView } from '../../../../shared/domain/devices.ts'

/** Texts about a device, in the operator's language. */
export function useDeviceText() {
  const { t } = useText()
  const { within } = useFormat()

  /** Returns why a device is not in its room, in one line without the delay; empty if it is in its room. */
  function trouble({ last_error, state }: DeviceView): string {
    return last_error === null || state === 'joined' || state === 'paused' ? '' : t(`devices.short.${last_error.kind}`)
  }

  /** Returns "next in 12 s" or "trying now"; empty for a device that is joined or paused. */
  function nextTry({ state, last_error, next_attempt_at }: DeviceView, now: number): string {
    if (state === 'joining') return last_error === null ? '' : t('devices.trouble.now')
    if (state !== 'waiting' || last_error === null) return ''
    // A login that was rejected too often is not retried automatically, because devices lock accounts.
    if (next_attempt_at === 0)
      return t(last_error.kind === 'auth' ? 'devices.trouble.heldLogin' : 'devices.trouble.held')
    // Rounded up, because a countdown at 0 s looks stuck.
    const left = Math.max(1_000, Math.ceil((next_attempt_at - now) / 1_000) * 1_000)
    return t('devices.trouble.next', { when: within(left) })
  }

  return { trouble, nextTry }
}

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

/** Returns one text of a device's options; empty: none. */
export function optionOf(device: Pick<DeviceView, 'options'>, name: 'login_name' | 'assist_address'): string {
  const value = device.options[name]
  return typeof value === 'string' ? value : ''
}

/** Returns whether the outdated TLS of a device is accepted. */
export function takesOldTls({ options }: Pick<DeviceView, 'options'>): boolean {
  return options.old_tls === true
}

/** Returns whether a password is stored. Its value is never sent to the page. */
export function hasPassword(device: Pick<DeviceView, 'options'>): boolean {
  return 'login_password' in device.options
}
