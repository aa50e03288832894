import { createHash, randomBytes } from 'node:crypto'

const keyBytes = 24
const form = /^[\w-]{32}$/

/** Makes the secret of one participant session. */
export function newSessionKey(): string {
  return randomBytes(keyBytes).toString('base64url')
}

/** Returns whether a text has the form of a session key. Join tokens have another form. */
export function hasSessionKeyForm(text: string): boolean {
  return form.test(text)
}

/**
 * Participant sessions by their keys. A lookup uses the digest of the key, so that the duration of the lookup reveals
 * nothing about the key.
 */
export class SessionIndex<T> {
  readonly #byDigest = new Map<string, T>()

  set(session: string, value: T): void {
    this.#byDigest.set(sha256(session), value)
  }

  delete(session: string): void {
    this.#byDigest.delete(sha256(session))
  }

  /** @param text text from a client that may be a session key */
  get(text: string): T | undefined {
    return hasSessionKeyForm(text) ? this.#byDigest.get(sha256(text)) : undefined
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
