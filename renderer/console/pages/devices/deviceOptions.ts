import type { DeviceView } from '../../../../shared/domain/devices.ts'

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
