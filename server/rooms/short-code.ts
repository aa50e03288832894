import { createHmac, randomInt } from 'node:crypto'
import { codeAlphabet, codeLength } from '../../shared/media/short-link.ts'

/** Generates the code of a short link. The code is random, because it gives access to a room. */
export function newCode(): string {
  return Array.from({ length: codeLength }, () => codeAlphabet.charAt(randomInt(codeAlphabet.length))).join('')
}

/**
 * Returns the token of the capability for a code. A code is so short that it could be found from a plain hash by trying
 * all codes. The keyed hash prevents this if only the database is stolen.
 * @param key signing key of the site's join links
 */
export function tokenOfCode(key: Buffer, code: string): string {
  return createHmac('sha256', key).update(`short link ${code}`, 'latin1').digest('base64url')
}
