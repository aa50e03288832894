import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { DigestForm } from '../../shared/settings/network.ts'

/**
 * Digests and tokens (specification, section 5; contract, section 2): base64 of an HMAC, either of its hex text, as the
 * public SDKs send it, or of its raw bytes, as clients written from the specification alone send it.
 */

/** The digest of one message in every form, decoded from base64. */
export type DigestsByForm = Readonly<Record<DigestForm, Buffer>>

/** Maximum length of a base64 text that is read: 64 bytes need 88 characters. */
const maxText = 100

/** Converts a secret to a key for the HMAC functions. */
export function hmacKey(secret: string): KeyObject {
  return createSecretKey(secret, 'utf8')
}

/** Returns the digest of a message in one form, before base64. */
function digestBytes(form: DigestForm, key: KeyObject, message: string): Buffer {
  const [hash = 'sha1', spelling] = form.split('-')
  const hmac = createHmac(hash, key).update(message, 'utf8')
  return spelling === 'hex' ? Buffer.from(hmac.digest('hex'), 'latin1') : hmac.digest()
}

/** Returns the digest of a message in every form. */
export function digestsOf(key: KeyObject, message: string): DigestsByForm {
  return {
    'sha1-hex': digestBytes('sha1-hex', key, message),
    'sha1-raw': digestBytes('sha1-raw', key, message),
    'sha256-hex': digestBytes('sha256-hex', key, message),
    'sha256-raw': digestBytes('sha256-raw', key, message),
  }
}

/** Returns a digest as it is sent: base64 with padding. */
export function digestText(form: DigestForm, key: KeyObject, message: string): string {
  return digestBytes(form, key, message).toString('base64')
}

/** Returns the form of a decoded digest by its length; undefined if no form has this length. */
function formOfLength(bytes: number): DigestForm | undefined {
  switch (bytes) {
    case 40:
      return 'sha1-hex'
    case 20:
      return 'sha1-raw'
    case 64:
      return 'sha256-hex'
    case 32:
      return 'sha256-raw'
    default:
      return undefined
  }
}

const variants = /[ _=-]/

/**
 * Converts base64 to its canonical spelling: a space becomes `+`, and the URL-safe alphabet the standard one. The
 * result has no padding; it may be invalid base64.
 */
export function canonicalBase64(text: string): string {
  if (!variants.test(text)) return text
  return text
    .replaceAll(' ', '+')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '')
}

/** Decodes a digest in any spelling of base64; undefined if it is invalid. */
export function decodeDigest(text: string): Buffer | undefined {
  if (text.length > maxText) return undefined
  const canonical = canonicalBase64(text)
  if (canonical === '' || canonical.length % 4 === 1 || !/^[A-Za-z0-9+/]+$/.test(canonical)) return undefined
  return Buffer.from(canonical, 'base64')
}

/** Returns the form whose digest equals `given`, compared in constant time; undefined: no form. */
export function matchingForm(given: Buffer, expected: DigestsByForm): DigestForm | undefined {
  const form = formOfLength(given.length)
  return form !== undefined && timingSafeEqual(given, expected[form]) ? form : undefined
}
