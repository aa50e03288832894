import { type DeviceLogin, isLoginFor, loginTargets } from '../../shared/device-address.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { ApiError } from '../../shared/result-codes.ts'
import { devicePlace } from '../store/sealed-places.ts'
import type { StoredDevice } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { assistAddressOf, hiddenPassword, loginNameOf } from './device-options.ts'

/** A login as an operator gives it to try an address; what is left out is that of the stored device. */
interface GivenLogin {
  login_name?: string | undefined
  /** `******` stands for the password that is stored. */
  login_password?: string | undefined
}

/** The login of a device; undefined when it has none. @throws ApiError 'internal' when its password cannot be unsealed */
export function loginOf(device: StoredDevice, store: Pick<Store, 'unseal'>): DeviceLogin | undefined {
  const name = loginNameOf(device)
  const password =
    device.login_password_sealed === '' ? '' : store.unseal(device.login_password_sealed, devicePlace(device))
  return name === '' && password === '' ? undefined : { name, password }
}

/**
 * The login to try an address with: as given, as it stood in the address, as it is stored; undefined for none.
 * @throws ApiError parameter when the stored password would go to another host than its own; 'internal' when it cannot be unsealed
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

/** A password that a caller gave; undefined for none, and for what stands for the stored one. */
export function givenPassword(text: string | undefined): string | undefined {
  return text === hiddenPassword ? undefined : text
}

/**
 * Checks that a stored password stays with the machine it was given for: whoever may change an address must not receive it at a machine of theirs.
 * @param addresses to which it would be sent; empty texts count for nothing
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
 * The sealed text of a device's password after a change of the device: the one that is there stays when password and addresses are the same.
 * @param password undefined: the one that is stored, which `checkPasswordStays` allows at the new addresses
 * @throws ApiError 'internal' when the stored password has to be sealed for other addresses and cannot be unsealed
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

/** One that was sealed with another key holds another password, as far as anybody can tell. */
function isSealed(device: StoredDevice, password: string, store: Store): boolean {
  try {
    return store.unseal(device.login_password_sealed, devicePlace(device)) === password
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}
