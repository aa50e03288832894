/**
 * Sign-in to the headless console: exchanges a name with its password, or the console key, for a session: a cookie that
 * scripts cannot read, and the page's half.
 */

import { pageHalfHeader, sessionStateParameter } from '../../../shared/console/session-halves.ts'
import { fetchOwn, keepPageHalf } from './page-half.ts'

/** Credentials of a sign-in. */
export type Secret = { key: string } | { name: string; password: string }

/** Kinds of secrets that the site accepts now. */
export interface SignInWays {
  password: boolean
  key: boolean
}

export type SignInOutcome =
  | { kind: 'signed_in' }
  /** The secret is wrong. */
  | { kind: 'wrong' }
  /** Too many wrong secrets from this address. */
  | { kind: 'wait'; seconds: number }
  | { kind: 'unreachable' }

const deadline = 15_000
/** Path that answers 200 without a session: browsers report 401 as an error. */
const statePath = `/session?${sessionStateParameter}`

/** Reads the console key from a fragment (`#key=…` or `#/?key=…`), or null. */
export function keyInFragment(fragment: string): string | null {
  const match = /^#(?:\/?\?)?key=([^&]+)/.exec(fragment)
  if (!match?.[1]) return null
  try {
    return decodeURIComponent(match[1])
  } catch {
    return match[1]
  }
}

/** Removes the console key from the address bar at once, so that it is neither bookmarked nor visible. */
export function takeKey(location: Location, history: History): string | null {
  const key = keyInFragment(location.hash)
  if (key !== null) history.replaceState(history.state, '', `${location.pathname}${location.search}#/`)
  return key
}

/** Exchanges a secret for a session. */
export async function signIn(secret: Secret): Promise<SignInOutcome> {
  try {
    const answer = await fetchOwn('/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(secret),
      signal: AbortSignal.timeout(deadline),
    })
    const half = answer.headers.get(pageHalfHeader)
    if (half !== null) keepPageHalf(half)
    if (answer.ok) return { kind: 'signed_in' }
    if (answer.status === 429) return { kind: 'wait', seconds: await retryAfter(answer) }
    return { kind: 'wrong' }
  } catch {
    return { kind: 'unreachable' }
  }
}

/** Returns whether there is a session; `unknown` if the controller is unreachable. */
export async function sessionState(): Promise<'signed_in' | 'signed_out' | 'unknown'> {
  try {
    const answer = await fetchOwn(statePath, { signal: AbortSignal.timeout(deadline) })
    if (answer.status === 204) return 'signed_in'
    return answer.ok ? 'signed_out' : 'unknown'
  } catch {
    return 'unknown'
  }
}

/** Lists the kinds of sign-in; the key if the controller does not answer. */
export async function signInWays(): Promise<SignInWays> {
  try {
    const answer = await fetchOwn(statePath, { signal: AbortSignal.timeout(deadline) })
    const body: unknown = await answer.json()
    if (typeof body !== 'object' || body === null) return { password: false, key: true }
    return { password: 'password' in body && body.password === true, key: !('key' in body) || body.key === true }
  } catch {
    return { password: false, key: true }
  }
}

/** Ends the session. Resolves to whether the controller has received it. */
export async function signOut(): Promise<boolean> {
  try {
    const answer = await fetchOwn('/session', {
      method: 'DELETE',
      signal: AbortSignal.timeout(deadline),
    })
    if (answer.ok) keepPageHalf('')
    return answer.ok
  } catch {
    return false
  }
}

async function retryAfter(answer: Response): Promise<number> {
  const body: unknown = await answer.json().catch(() => null)
  if (typeof body === 'object' && body !== null && 'retry_after' in body && typeof body.retry_after === 'number') {
    return Math.max(1, Math.ceil(body.retry_after))
  }
  return Number(answer.headers.get('retry-after')) || 60
}
