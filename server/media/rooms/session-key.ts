import { randomBytes } from 'node:crypto'

const keyBytes = 24
const form = /^[\w-]{32}$/

/** Makes the secret of one participant session. */
export function newSessionKey(): string {
  return randomBytes(keyBytes).toString('base64url')
}

/** Whether a text has the form of a session key. Join tokens have another form. */
export function hasSessionKeyForm(text: string): boolean {
  return form.test(text)
}
