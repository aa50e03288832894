import { createHmac, randomInt } from 'node:crypto'
import { codeAlphabet, codeLength } from '../../shared/media/short-link.ts'

/** Makes the code of a short link: unguessable, because it opens a room. */
export function newCode(): string {
  return Array.from({ length: codeLength }, () => codeAlphabet.charAt(randomInt(codeAlphabet.length))).join('')
}

/**
 * Returns the token of a capability whose holder has this code. A code alone is short enough to be searched for by its hash: without the key, a stolen database does not help.
 * @param key of the site's join links
 */
export function tokenOfCode(key: Buffer, code: string): string {
  return createHmac('sha256', key).update(`short link ${code}`, 'latin1').digest('base64url')
}
