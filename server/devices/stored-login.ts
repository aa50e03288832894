import { type DeviceLogin, isLoginFor, loginTargets } from '../../shared/device-address.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { ApiError } from '../../shared/result-codes.ts'
import { devicePlace } from '../store/sealed-places.ts'
import type { StoredDevice } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { assistAddressOf, hiddenPassword, loginNameOf } from './device-options.ts'

/** Login with which an operator probes an address; absent fields come from the stored device. */
interface GivenLogin {
  login_name?: string | undefined
  /** Password; `******`: the stored password. */
  login_password?: string | undefined
}

/**
 * Returns the login of a device; undefined if it has none.
 * @throws ApiError 'internal' if its password cannot be unsealed
 */
export function loginOf(device: StoredDevice, store: Pick<Store, 'unseal'>): DeviceLogin | undefined {
  const name = loginNameOf(device)
  const password =
    device.login_password_sealed === '' ? '' : store.unseal(device.login_password_sealed, devicePlace(device))
  return name === '' && password === '' ? undefined : { name, password }
}

/**
 * Returns the login for probing an address: the specified login, the login in the address, or the stored one;
 * undefined: none.
 * @throws ApiError parameter if the stored password would be sent to another host; 'internal' if it cannot be unsealed
 */
export function loginToTry(
  { address, login: found }: { address: string; login?: DeviceLogin | undefined },
  given: GivenLogin,
  device: StoredDevice | undefined,
  store: Pick<Store, 'unseal'>,
): DeviceLogin | undefined {
  const newPassword = givenPassword(given.login_password) ?? found?.password
  if (device !== undefined && newPassword === undefined) checkPasswordStays(device, [address])
  const stored = device === undefined ? undefined : loginOf(device, store)
  const name = given.login_name ?? found?.name ?? stored?.name ?? ''
  const password = newPassword ?? stored?.password ?? ''
  return name === '' && password === '' ? undefined : { name, password }
}

/** Returns the password that a caller specified; undefined: none, or the placeholder of the stored password. */
export function givenPassword(text: string | undefined): string | undefined {
  return text === hiddenPassword ? undefined : text
}

/**
 * Checks that a stored password is not sent to another host. Otherwise, a user who may change an address could send the
 * password to a host of their choice.
 * @param addresses addresses to which the password would be sent; empty texts are ignored
 * @throws ApiError parameter, of the field login_password
 */
export function checkPasswordStays(device: StoredDevice, addresses: readonly string[]): void {
  if (device.login_password_sealed === '') return
  if (isLoginFor([device.userAddress, assistAddressOf(device)], addresses)) return
  throw new ApiError('parameter', {
    field: 'login_password',
    refusal: refusal('loginElsewhere'),
  })
}

/**
 * Returns the sealed password of a device after a change. Reuses the existing text if password and addresses are the
 * same.
 * @param password undefined: the stored password, which `checkPasswordStays` allows for the new addresses
 * @throws ApiError 'internal' if the stored password has to be sealed for other addresses and cannot be unsealed
 */
export function sealedPassword(
  before: StoredDevice,
  after: StoredDevice,
  password: string | undefined,
  store: Store,
): string {
  const text = before.login_password_sealed
  if (password === '' || (password === undefined && text === '')) return ''
  const stays =
    loginTargets([before.userAddress, assistAddressOf(before)]) ===
    loginTargets([after.userAddress, assistAddressOf(after)])
  if (password === undefined)
    return stays ? text : store.seal(store.unseal(text, devicePlace(before)), devicePlace(after))
  return stays && text !== '' && isSealed(before, password, store) ? text : store.seal(password, devicePlace(after))
}

/** Whether the stored text contains this password. A text sealed with another key counts as a different password. */
function isSealed(device: StoredDevice, password: string, store: Store): boolean {
  try {
    return store.unseal(device.login_password_sealed, devicePlace(device)) === password
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}
