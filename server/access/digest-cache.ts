import { type KeyObject, randomBytes } from 'node:crypto'
import type { DigestForm } from '../../shared/settings/network.ts'
import { sealedPlaceOf } from '../store/sealed-places.ts'
import type { StoredCredential } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { decodeDigest, type DigestsByForm, digestsOf, hmacKey, matchingForm } from './digest.ts'

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
