import { hasControlCharacter } from '../../shared/control-character.ts'
import { type DeviceAddress, type DeviceLogin, parseDeviceAddress } from '../../shared/device-address.ts'
import { hiddenSecret } from '../../shared/hidden-secret.ts'
import { limits } from '../../shared/limits.ts'
import { utf8Length } from '../../shared/operation.ts'
import { type Complaint, complaint } from '../../shared/refusals/complaints.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { StoredDevice } from '../store/records.ts'

/** Placeholder for a password in all responses that contain a device (contract, section 4). */
export const hiddenPassword = hiddenSecret

/** Maximum nesting depth of an options document. */
const deepest = 8

/** Validated options of a device. */
export interface DeviceOptions {
  /** Name of the login; undefined: not specified. */
  loginName: string | undefined
  loginPassword: string | undefined
  /** Address of a second stream, without login; undefined: none. */
  assistAddress: DeviceAddress | undefined
  /** Login contained in the second stream's address; undefined: none. */
  assistLogin: DeviceLogin | undefined
  /** All options as specified, without login_password and without the login in assist_address. These are stored. */
  stored: Record<string, unknown>
}

/**
 * Parses the options of a device: an object, or its JSON text; empty: none. Unknown keys are kept.
 * @throws ApiError 'parameter'
 */
export function parseDeviceOptions(given: string | Record<string, unknown> | undefined): DeviceOptions {
  const document = typeof given === 'string' ? parseText(given) : (given ?? {})
  if (depthOf(document, deepest) > deepest) refuse('options', complaint('optionsDeep', { max: deepest }))
  if (utf8Length(JSON.stringify(document)) > limits.deviceOptions)
    refuse('options', complaint('optionsLarge', { max: limits.deviceOptions }))
  const loginName = textOf(document, 'login_name', limits.loginName)
  const loginPassword = textOf(document, 'login_password', limits.loginPassword)
  const assist = textOf(document, 'assist_address', limits.userAddress)
  const entries = Object.entries(document).filter(([key]) => key !== 'login_password')
  if (assist === undefined || assist.trim() === '') {
    return {
      loginName,
      loginPassword,
      assistAddress: undefined,
      assistLogin: undefined,
      stored: Object.fromEntries(entries),
    }
  }
  const { login: assistLogin, ...assistAddress } = parseDeviceAddress(assist, 'assist_address')
  const stored = { ...Object.fromEntries(entries), assist_address: assistAddress.address }
  return { loginName, loginPassword, assistAddress, assistLogin, stored }
}

/** Returns the options for responses: a placeholder replaces a stored password. */
export function listedOptions(device: StoredDevice): Record<string, unknown> {
  return device.login_password_sealed === '' ? device.options : { ...device.options, login_password: hiddenPassword }
}

/** Returns the login_name of a stored device; empty if it has none. */
export function loginNameOf(device: StoredDevice): string {
  return typeof device.options.login_name === 'string' ? device.options.login_name : ''
}

/** Returns the assist_address of a stored device; empty if it has none. */
export function assistAddressOf(device: StoredDevice): string {
  return typeof device.options.assist_address === 'string' ? device.options.assist_address : ''
}

/** Whether outdated TLS versions are accepted from a device. Only the JSON value `true` enables this. */
export function takesOldTls(device: Pick<StoredDevice, 'options'>): boolean {
  return device.options.old_tls === true
}

function parseText(text: string): Record<string, unknown> {
  if (text.trim() === '') return {}
  if (utf8Length(text) > limits.deviceOptions)
    refuse('options', complaint('optionsLarge', { max: limits.deviceOptions }))
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    refuse('options', complaint('optionsText'))
  }
  return isObject(document) ? document : refuse('options', complaint('optionsObject'))
}

function textOf(document: Record<string, unknown>, key: string, maxBytes: number): string | undefined {
  if (!Object.hasOwn(document, key)) return undefined
  const value = document[key]
  if (value === null) return undefined
  if (typeof value !== 'string') return refuse(key, complaint('notText'))
  if (utf8Length(value) > maxBytes) refuse(key, complaint('long', { max: maxBytes }))
  // A line break would end the header of the RTSP request that contains the login.
  if (!value.isWellFormed() || hasControlCharacter(value)) refuse(key, complaint('control'))
  return value
}

/** Returns the nesting depth of a JSON value, at most `bound` + 1. */
function depthOf(value: unknown, bound: number): number {
  if (typeof value !== 'object' || value === null) return 0
  if (bound === 0) return 1
  let deepestChild = 0
  for (const child of Object.values(value)) {
    deepestChild = Math.max(deepestChild, depthOf(child, bound - 1))
    if (deepestChild >= bound) break
  }
  return deepestChild + 1
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function refuse(field: string, wrong: Complaint): never {
  throw new ApiError('parameter', { field, complaint: wrong })
}
