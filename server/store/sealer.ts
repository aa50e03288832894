import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { ApiError } from '../../shared/result-codes.ts'
import { refusal } from '../../shared/refusals/refusal.ts'

/** Prefix of a text that is sealed for its place. */
export const sealedPrefix = 'sealed:v2:'
/** Prefix of a text that is sealed for its place and an address. */
const addressedPrefix = 'sealed:v3:'
/** Prefix of a text of an earlier version, which can be unsealed for any place. */
const placelessPrefix = 'sealed:v1:'

/** Prefixes of all versions, all of the same length. */
export const prefixes = [placelessPrefix, sealedPrefix, addressedPrefix] as const

/**
 * Place of a sealed text: the text can be unsealed for no other place. Authenticated with the text (AAD), never stored.
 */
export type SealedPlace = readonly string[] | AddressedPlace

/** Place of a secret that is sent to an address. If the address changes, the text cannot be unsealed. */
interface AddressedPlace {
  readonly of: readonly string[]
  readonly address: string
}

/** Encrypts secrets for storage on disk, and decrypts them. */
export interface Sealer {
  /** Encrypts a secret for its place; each call gives a different text. */
  seal(text: string, place: SealedPlace): string
  /**
   * Opens a sealed text. A text of an earlier version can be unsealed for any place, or for any address.
   * @throws ApiError 'internal' when the text was sealed with another key or for another place, or was altered
   */
  unseal(text: string, place: SealedPlace): string
  /**
   * Reseals a text of an earlier version for its place. The same text and place give the same result, so that a
   * restored backup equals the resealed state.
   * @throws ApiError 'internal', like `unseal`
   */
  reseal(text: string, place: SealedPlace): string
  /**
   * Returns a proof of a text for one purpose, base64url: an HMAC-SHA-256 with a key of that purpose only. Making a
   * proof requires the site's key.
   */
  proof(purpose: string, text: string): string
  /**
   * Returns the key for proofs of one purpose, for a program that checks such proofs and must not get any other key.
   */
  keyFor(purpose: string): Buffer
}

const ivBytes = 12
const tagBytes = 16

/**
 * Creates a sealer with AES-256-GCM (NIST SP 800-38D), a random 96-bit iv per text, and the place as additional
 * authenticated data. A text is `sealed:v2:` and base64url of iv, tag, data.
 * A text for a place with an address starts with `sealed:v3:` and has a separate key.
 * Texts of earlier versions (`sealed:v1:`) have no place and were sealed with the site's key itself.
 * @param key 32 bytes
 */
export function createSealer(key: Buffer): Sealer {
  if (key.length !== 32) throw new RangeError('A sealing key has 32 bytes.')
  // HKDF (RFC 5869): the key of one purpose reveals nothing about the other keys or the site's key.
  const keyFor = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', key, '', `roomdesk ${purpose}`, 32))
  // A separate key: a resealed text keeps its iv, and no iv may be used twice with the same key.
  const placedKey = keyFor('sealed text')
  const addressedKey = keyFor('sealed text for an address')
  const unseal = (text: string, place: SealedPlace): string => {
    try {
      if (isPlaceless(text)) return decrypt(key, text.slice(placelessPrefix.length))
      if (isAddressed(place) && text.startsWith(addressedPrefix))
        return decrypt(addressedKey, text.slice(addressedPrefix.length), place)
      if (!text.startsWith(sealedPrefix)) throw new Error('not a sealed text')
      return decrypt(placedKey, text.slice(sealedPrefix.length), isAddressed(place) ? place.of : place)
    } catch (error) {
      throw cannotOpen(error)
    }
  }
  const sealed = (iv: Buffer, text: string, place: SealedPlace): string => {
    const [prefix, ownKey] = isAddressed(place) ? [addressedPrefix, addressedKey] : [sealedPrefix, placedKey]
    const cipher = createCipheriv('aes-256-gcm', ownKey, iv).setAAD(bytesOf(place))
    const head = cipher.update(text, 'utf8')
    const tail = cipher.final()
    return prefix + Buffer.concat([iv, cipher.getAuthTag(), head, tail]).toString('base64url')
  }
  return {
    proof: (purpose, text) => createHmac('sha256', keyFor(purpose)).update(text).digest('base64url'),
    keyFor,
    seal: (text, place) => sealed(randomBytes(ivBytes), text, place),
    unseal,
    reseal(text, place) {
      const secret = unseal(text, place)
      if (!isOutdated(text, place)) return text
      const iv = Buffer.from(text.slice(sealedPrefix.length), 'base64url').subarray(0, ivBytes)
      return sealed(iv, secret, place)
    },
  }
}

/** Whether a text has no place, because an earlier version sealed it. */
export function isPlaceless(text: string): boolean {
  return text.startsWith(placelessPrefix)
}

/** Whether a text must be sealed again, because an earlier version sealed it without a place or without its address. */
export function isOutdated(text: string, place: SealedPlace): boolean {
  return isPlaceless(text) || (isAddressed(place) && text.startsWith(sealedPrefix))
}

function isAddressed(place: SealedPlace): place is AddressedPlace {
  return 'of' in place
}

/**
 * Whether two texts come from the same sealing: they are equal, or one text was resealed from the other. Does not prove
 * who sealed the texts.
 */
export function isSameSealing(one: string, other: string): boolean {
  return sealingOf(one) === sealingOf(other)
}

/**
 * Returns the iv of a sealed text, which identifies its sealing and stays the same when the text is resealed. Returns
 * any other text unchanged.
 */
export function sealingOf(text: string): string {
  if (!prefixes.some((prefix) => text.startsWith(prefix))) return text
  const { length } = sealedPrefix
  return text.slice(length, length + (ivBytes * 4) / 3)
}

/** Returns the error for a stored secret that cannot be unsealed. */
export function cannotOpen(cause?: unknown): ApiError {
  return new ApiError('internal', {
    refusal: refusal('secretSealed'),
    cause,
  })
}

/** @param place left out: the text has no place */
function decrypt(key: Buffer, text: string, place?: SealedPlace): string {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length < ivBytes + tagBytes) throw new Error('too short')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
  if (place !== undefined) decipher.setAAD(bytesOf(place))
  decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
  return decipher.update(bytes.subarray(ivBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8')
}

function bytesOf(place: SealedPlace): Buffer {
  return Buffer.from(JSON.stringify(isAddressed(place) ? [...place.of, place.address] : place))
}

/** Compares a given proof with the expected one, in constant time. */
export function isProof(given: string, right: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(right)]
  return one.length === other.length && timingSafeEqual(one, other)
}
