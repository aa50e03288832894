import { createHmac, hash, randomBytes } from 'node:crypto'
import { sameSecret } from '../../edge/same-secret.ts'

/** What a request shows beside the cookie: the page's half of its session, or a ticket for its path that was issued for that half. */
export type PageProof = { half: string } | { ticket: string; path: string }

/** Lifetime of a ticket, in milliseconds: an interrupted download may be resumed for so long. */
const ticketLifeMs = 60 * 60_000

/** Makes the page's half of a session. */
export function newPageHalf(): string {
  return randomBytes(32).toString('base64url')
}

/** Form in which the page's half is stored. */
export function digestOfHalf(half: string): string {
  return hash('sha256', half, 'base64url')
}

/** Whether a request shows the page's half of a session. @param digest of the half, as stored; empty for a session from before there were halves */
export function provesPage(digest: string, proof: PageProof, now: number): boolean {
  if (digest === '') return false
  if ('half' in proof) return sameSecret(digest, digestOfHalf(proof.half))
  const { ticket, path } = proof
  const [end = '', code = ''] = ticket.split('.', 2)
  return Number(end) > now && sameSecret(codeFor(digest, path, end), code)
}

/** Issues a ticket for one path. It counts together with the cookie of the same session only. */
export function ticketFor(digest: string, path: string, now: number): string {
  const end = String(now + ticketLifeMs)
  return `${end}.${codeFor(digest, path, end)}`
}

function codeFor(digest: string, path: string, end: string): string {
  return createHmac('sha256', digest).update(`console ticket ${end} ${path}`).digest('base64url')
}
