import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { DigestForm } from '../../shared/settings/network.ts'

/**
 * Digests and tokens (specification, section 5; contract, section 2): base64 of an HMAC, either of its hex text, as the public SDKs send
 * it, or of its raw bytes, as somebody sends it who knows only the specification.
 */

/** The digest of one message in every form, decoded from base64. */
export type DigestsByForm = Readonly<Record<DigestForm, Buffer>>

/** Longest base64 text that is read: 64 bytes make 88 characters. */
const maxText = 100

/** A secret as the HMAC functions take it. */
export function hmacKey(secret: string): KeyObject {
  return createSecretKey(secret, 'utf8')
}

/** The digest of a message in one form, before base64. */
function digestBytes(form: DigestForm, key: KeyObject, message: string): Buffer {
  const [hash = 'sha1', spelling] = form.split('-')
  const hmac = createHmac(hash, key).update(message, 'utf8')
  return spelling === 'hex' ? Buffer.from(hmac.digest('hex'), 'latin1') : hmac.digest()
}

/** The digest of a message in every form. */
export function digestsOf(key: KeyObject, message: string): DigestsByForm {
  return {
    'sha1-hex': digestBytes('sha1-hex', key, message),
    'sha1-raw': digestBytes('sha1-raw', key, message),
    'sha256-hex': digestBytes('sha256-hex', key, message),
    'sha256-raw': digestBytes('sha256-raw', key, message),
  }
}

/** A digest as it travels: base64 with padding. */
export function digestText(form: DigestForm, key: KeyObject, message: string): string {
  return digestBytes(form, key, message).toString('base64')
}

/** The form of a decoded digest, which its length gives away; undefined when no form is so long. */
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
 * One spelling for every way to write the same base64: a space for an unescaped `+`, the URL-safe alphabet, with or without padding.
 * The result has no padding; it may be no base64 at all.
 */
export function canonicalBase64(text: string): string {
  if (!variants.test(text)) return text
  return text
    .replaceAll(' ', '+')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '')
}

/** The bytes of a digest in any spelling of base64; undefined when it is none. */
export function decodeDigest(text: string): Buffer | undefined {
  if (text.length > maxText) return undefined
  const canonical = canonicalBase64(text)
  if (canonical === '' || canonical.length % 4 === 1 || !/^[A-Za-z0-9+/]+$/.test(canonical)) return undefined
  return Buffer.from(canonical, 'base64')
}

/** The form in which `given` is one of `expected`, compared in constant time; undefined when it is none of them. */
export function matchingForm(given: Buffer, expected: DigestsByForm): DigestForm | undefined {
  const form = formOfLength(given.length)
  return form !== undefined && timingSafeEqual(given, expected[form]) ? form : undefined
}
