import { randomBytes } from 'node:crypto'
import { issueToken, readToken, tokenDigest } from '../../../shared/files/signed-tokens.ts'
import { tokenKinds } from '../../../shared/tokens.ts'
import { sameSecret } from '../../edge/same-secret.ts'

/**
 * Proof of a request in addition to the cookie: the page's half of the session secret, or a ticket for the requested
 * path. A ticket is issued with the digest of the page's half.
 */
export type PageProof = { half: string } | { ticket: string; path: string }

/** Generates the page's half of a session secret. */
export function newPageHalf(): string {
  return randomBytes(32).toString('base64url')
}

/**
 * Whether a request proves the page's half of a session secret.
 * @param digest stored digest of the page's half; empty: a session of an earlier version, which is rejected
 */
export function provesPage(digest: string, proof: PageProof, now: number): boolean {
  if (digest === '') return false
  if ('half' in proof) return sameSecret(digest, tokenDigest(proof.half))
  return readToken('download-ticket', digest, proof.ticket, now, proof.path) !== undefined
}

/** Issues a ticket for one path. The ticket is valid only together with the cookie of the same session. */
export function ticketFor(digest: string, path: string, now: number): string {
  return issueToken('download-ticket', digest, { expiresAt: now + tokenKinds['download-ticket'].lifetime.ms }, path)
}
