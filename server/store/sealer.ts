import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { ApiError } from '../../shared/result-codes.ts'
import { refusal } from '../../shared/refusals/refusal.ts'

/** Prefix of a text that is sealed for its place. */
export const sealedPrefix = 'sealed:v2:'
/** Prefix of a text that is sealed for its place and an address. */
const addressedPrefix = 'sealed:v3:'
/** Prefix of a text of an earlier version, which opens in any place. */
const placelessPrefix = 'sealed:v1:'

/** Prefixes of all versions; equally long. */
export const prefixes = [placelessPrefix, sealedPrefix, addressedPrefix] as const

/** Names where a sealed text belongs: it opens nowhere else. Authenticated with the text (AAD), never stored. */
export type SealedPlace = readonly string[] | AddressedPlace

/** Place of a secret that is sent to an address: once the address is another, the text does not open. */
interface AddressedPlace {
  readonly of: readonly string[]
  readonly address: string
}

/** Turns secrets into texts that are safe on disk, and back. Where the key comes from is not its business. */
export interface Sealer {
  /** Encrypts a secret for its place; the same secret seals differently each time. */
  seal(text: string, place: SealedPlace): string
  /**
   * Opens a sealed text; one of an earlier version opens in any place, or with any address.
   * @throws ApiError 'internal' when the text was sealed with another key or for another place, or was altered
   */
  unseal(text: string, place: SealedPlace): string
  /**
   * Seals a text of an earlier version for its place. The same text and place give the same result, so that a restored backup equals the resealed state.
   * @throws ApiError 'internal' as `unseal` does
   */
  reseal(text: string, place: SealedPlace): string
  /** A proof of this text for one purpose that only who has the key can make, base64url: HMAC-SHA-256 with a key of that purpose alone. */
  proof(purpose: string, text: string): string
  /** The key with which proofs for one purpose are made, for a program that is to check them and know no more. */
  keyFor(purpose: string): Buffer
}

const ivBytes = 12
const tagBytes = 16

/**
 * AES-256-GCM (NIST SP 800-38D), random 96-bit iv per text, the place as additional authenticated data: `sealed:v2:` and base64url of iv, tag, data.
 * A place with an address: `sealed:v3:`, with a key of its own.
 * Texts of earlier versions (`sealed:v1:`) have no place and were sealed with the site's key itself.
 * @param key 32 bytes.
 */
export function createSealer(key: Buffer): Sealer {
  if (key.length !== 32) throw new RangeError('A sealing key has 32 bytes.')
  // RFC 5869: what one purpose gives away says nothing of another, nor of the key.
  const keyFor = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', key, '', `roomdesk ${purpose}`, 32))
  // A key of its own: a resealed text keeps its iv, and no iv may be used twice with one key.
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

/** Whether a text was sealed by an earlier version, for no place. */
export function isPlaceless(text: string): boolean {
  return text.startsWith(placelessPrefix)
}

/** Whether a text was sealed by an earlier version: for no place, or without the address of this place. */
export function isOutdated(text: string, place: SealedPlace): boolean {
  return isPlaceless(text) || (isAddressed(place) && text.startsWith(sealedPrefix))
}

function isAddressed(place: SealedPlace): place is AddressedPlace {
  return 'of' in place
}

/** Whether two texts come from one sealing: they are equal, or one is the other resealed for its place. Does not prove who made them. */
export function isSameSealing(one: string, other: string): boolean {
  return sealingOf(one) === sealingOf(other)
}

/** Identifies the sealing that made a text by its iv, which a resealing keeps. Returns a text that is not sealed as it is. */
export function sealingOf(text: string): string {
  if (!prefixes.some((prefix) => text.startsWith(prefix))) return text
  const { length } = sealedPrefix
  return text.slice(length, length + (ivBytes * 4) / 3)
}

/** The error of a stored secret that does not open. */
export function cannotOpen(cause?: unknown): ApiError {
  return new ApiError('internal', {
    refusal: refusal('secretSealed'),
    cause,
  })
}

/** @param place left out: the text has none */
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

/** Compares a proof that was given with the right one, in a time that does not tell where they differ. */
export function isProof(given: string, right: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(right)]
  return one.length === other.length && timingSafeEqual(one, other)
}
