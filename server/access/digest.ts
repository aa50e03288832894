import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'
import type { DigestForm } from '../../shared/settings/network.ts'
import type { StoredCredential } from '../store/records.ts'
import { sealedPlaceOf } from '../store/sealed-places.ts'
import type { Store } from '../store/store.ts'

/**
 * Digests and tokens (specification, section 5; contract, section 2): base64 of an HMAC, either of its hex text, as the
 * public SDKs send it, or of its raw bytes, as clients written from the specification alone send it.
 */

/** The digest of one message in every form, decoded from base64. */
type DigestsByForm = Readonly<Record<DigestForm, Buffer>>

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

/** Digests computed once per secret. */
interface ExpectedDigests {
  /** Sealed text of the secret; a changed text means a changed secret. */
  sealed: string
  key: KeyObject
  expected: DigestsByForm
}

/** Result of checking a digest; `reason` is only for the operator. */
export type DigestCheck =
  | { ok: true; credential: StoredCredential; key: KeyObject; form: DigestForm }
  | { ok: false; reason: string }

/** Cache of the expected digests of every credential, in all forms, until its secret changes. */
export class DigestCache {
  readonly #store: Pick<Store, 'get' | 'unseal'>
  readonly #entries = new Map<string, ExpectedDigests>()
  /** Digests used for an unknown access_key, so that the check takes as long as for a known access_key. */
  readonly #nobody: DigestsByForm

  constructor(store: Pick<Store, 'get' | 'unseal' | 'onChange'>) {
    this.#store = store
    this.#nobody = digestsOf(hmacKey(randomBytes(32).toString('hex')), '')
    store.onChange(
      (changes) => {
        for (const { collection, key } of changes) if (collection === 'credentials') this.#entries.delete(key)
      },
      ['credentials'],
    )
  }

  /**
   * Checks a digest in constant time, for known and unknown access_keys.
   * @param forms forms accepted by the settings
   * @throws ApiError 'internal' if the secret was sealed with another key
   */
  check(accessKey: string, digest: string, forms: readonly DigestForm[]): DigestCheck {
    const given = decodeDigest(digest)
    const credential = this.#store.get('credentials', accessKey)
    const entry = credential === undefined ? undefined : this.#entryOf(credential)
    const form = given === undefined ? undefined : matchingForm(given, entry?.expected ?? this.#nobody)
    if (credential === undefined || entry === undefined) {
      return {
        ok: false,
        reason: accessKey === '' ? 'no access_key was given' : 'there is no credential with this access_key',
      }
    }
    if (form === undefined) return { ok: false, reason: digestReason(digest, given) }
    if (!forms.includes(form)) return { ok: false, reason: `the digest is right, but its form ${form} is switched off` }
    if (!credential.enabled) return { ok: false, reason: 'the digest is right, but the credential is disabled' }
    return { ok: true, credential, key: entry.key, form }
  }

  /** Returns the HMAC key of a credential; undefined if the credential does not exist. */
  key(accessKey: string): KeyObject | undefined {
    const credential = this.#store.get('credentials', accessKey)
    return credential === undefined ? undefined : this.#entryOf(credential).key
  }

  #entryOf(credential: StoredCredential): ExpectedDigests {
    const known = this.#entries.get(credential.access_key)
    if (known?.sealed === credential.secret_key_sealed) return known
    const key = hmacKey(
      this.#store.unseal(credential.secret_key_sealed, sealedPlaceOf('credentials', credential.access_key)),
    )
    const entry = { sealed: credential.secret_key_sealed, key, expected: digestsOf(key, credential.access_key) }
    this.#entries.set(credential.access_key, entry)
    return entry
  }
}

function digestReason(digest: string, given: Buffer | undefined): string {
  if (digest === '') return 'no digest was given'
  if (given === undefined) return 'the digest is not base64'
  if (![20, 32, 40, 64].includes(given.length)) return `the digest decodes to ${given.length} bytes, which no form has`
  return 'the digest does not match: another secret_key, or another message than the access_key'
}
