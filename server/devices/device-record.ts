import type { NodeDevice } from '../nodes/port/media-node-port.ts'
import { devicePlace } from '../store/sealed-places.ts'
import type { StoredDevice } from '../store/records.ts'
import { isSameSealing } from '../store/sealer.ts'
import type { Store } from '../store/store.ts'
import { tagField, withTags } from '../rooms/tags.ts'
import { shownName } from '../../shared/control-character.ts'
import { type DeviceAddress, type DeviceLogin, parseDeviceAddress, sameAddress } from '../../shared/device-address.ts'
import { assistAddressOf, loginNameOf, parseDeviceOptions, takesOldTls } from './device-options.ts'
import { checkPasswordStays, givenPassword, loginOf, sealedPassword } from './stored-login.ts'

/** Device as specified by a caller, with checked lengths. */
export interface NewDevice {
  roomId: string
  userId: string
  userName: string
  /** Address of the device, which may contain `user:password@`. */
  userAddress: string
  userData?: string | undefined
  /** Options as an object, or as its JSON text. */
  options?: string | Record<string, unknown> | undefined
  tags?: readonly string[] | undefined
}

/** Fields of a device that the operator may change; absent fields stay unchanged. */
export interface DeviceChanges {
  roomId?: string | undefined
  userName?: string | undefined
  userAddress?: string | undefined
  userData?: string | undefined
  login_name?: string | undefined
  /** New password; `******`: the stored password. */
  login_password?: string | undefined
  /** Empty: removes the second stream. */
  assist_address?: string | undefined
  old_tls?: boolean | undefined
  tags?: readonly string[] | undefined
}

/** Device that is not stored yet: it may join its room before its password is sealed. */
export interface UnstoredDevice {
  record: Omit<StoredDevice, 'login_password_sealed'>
  target: NodeDevice
}

/**
 * Creates a device. A login in an address applies if the options contain none.
 * @throws ApiError parameter
 */
export function newDevice(given: NewDevice, createdAt: number): UnstoredDevice {
  const { login: inAddress, ...address } = parseDeviceAddress(given.userAddress)
  const options = parseDeviceOptions(given.options)
  const found = inAddress ?? options.assistLogin
  const name = options.loginName || found?.name || ''
  const password = options.loginPassword || found?.password || ''
  const record = {
    roomId: given.roomId,
    userName: given.userName,
    userData: given.userData ?? '',
    userId: given.userId,
    userAddress: address.address,
    options: withLoginName(options.stored, name),
    ...tagField(given.tags),
    paused: false,
    created_at: createdAt,
  }
  const login = name === '' && password === '' ? undefined : { name, password }
  return { record, target: nodeDevice(record, address, options.assistAddress, login) }
}

/** Returns the record of a new device, with its password sealed. */
export function toStoredDevice({ record, target }: UnstoredDevice, store: Pick<Store, 'seal'>): StoredDevice {
  const password = target.login?.password ?? ''
  return { ...record, login_password_sealed: password === '' ? '' : store.seal(password, devicePlace(record)) }
}

/**
 * Returns the record after a change; returns the same object if nothing changed.
 * @throws ApiError parameter, also if the stored password would be sent to another host
 */
export function changedDevice(device: StoredDevice, changes: DeviceChanges, store: Store): StoredDevice {
  const { address, login } =
    changes.userAddress === undefined
      ? { address: device.userAddress, login: undefined }
      : parseDeviceAddress(changes.userAddress)
  const asked = {
    ...device.options,
    ...(changes.login_name === undefined ? {} : { login_name: changes.login_name }),
    ...(changes.assist_address === undefined ? {} : { assist_address: changes.assist_address }),
    ...(changes.old_tls === undefined ? {} : { old_tls: changes.old_tls }),
  }
  const options = parseDeviceOptions(
    changes.login_password === undefined ? asked : { ...asked, login_password: changes.login_password },
  )
  const found = login ?? options.assistLogin
  const name = changes.login_name ?? found?.name ?? loginNameOf(device)
  const password = givenPassword(changes.login_password) ?? found?.password
  if (password === undefined) checkPasswordStays(device, [address, options.assistAddress?.address ?? ''])
  const changed: StoredDevice = {
    ...withTags(device, changes.tags ?? device.tags ?? []),
    roomId: changes.roomId ?? device.roomId,
    userName: changes.userName ?? device.userName,
    userAddress: address,
    userData: changes.userData ?? device.userData,
    options: withLoginName(withoutEmpty(options.stored, 'assist_address'), name),
  }
  const after = { ...changed, login_password_sealed: sealedPassword(device, changed, password, store) }
  return JSON.stringify(after) === JSON.stringify(device) ? device : after
}

/**
 * Returns the data that a node needs to pull the device.
 * @throws ApiError 'internal' if its password cannot be unsealed
 */
export function toNodeDevice(device: StoredDevice, store: Pick<Store, 'unseal'>): NodeDevice {
  const assist = assistAddressOf(device)
  const assistAddress = assist.trim() === '' ? undefined : parseDeviceAddress(assist, 'assist_address')
  return nodeDevice(device, parseDeviceAddress(device.userAddress), assistAddress, loginOf(device, store))
}

function nodeDevice(
  device: UnstoredDevice['record'],
  address: DeviceAddress,
  assistAddress: DeviceAddress | undefined,
  login: DeviceLogin | undefined,
): NodeDevice {
  const oldTls = takesOldTls(device) ? { oldTls: true } : {}
  return { userId: device.userId, userName: shownName(device.userName), address, assistAddress, login, ...oldTls }
}

/** Whether a change makes the device join again: its address, login, TLS option or room has changed. */
export function rejoins(before: StoredDevice, after: StoredDevice): boolean {
  return (
    before.roomId !== after.roomId ||
    !sameAddress(before.userAddress, after.userAddress) ||
    !sameAddress(assistAddressOf(before), assistAddressOf(after)) ||
    loginNameOf(before) !== loginNameOf(after) ||
    takesOldTls(before) !== takesOldTls(after) ||
    !isSameSealing(before.login_password_sealed, after.login_password_sealed)
  )
}

function withLoginName(options: Record<string, unknown>, name: string): Record<string, unknown> {
  return name === '' ? withoutEmpty(options, 'login_name') : { ...options, login_name: name }
}

function withoutEmpty(options: Record<string, unknown>, key: string): Record<string, unknown> {
  if (options[key] !== '') return options
  return Object.fromEntries(Object.entries(options).filter(([name]) => name !== key))
}
