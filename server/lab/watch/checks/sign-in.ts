import { LRUCache } from 'lru-cache'
import { authenticate } from '../../../../shared/media-operations.ts'
import { createOutgoingUser } from '../../../../shared/device-operations.ts'
import { sentenceOf, success } from '../../../../shared/result-codes.ts'
import { contract, specification } from '../../conformance/verdict.ts'
import { type ClientCheck, judgeRepetitions } from '../check.ts'
import type { WatchedCall } from '../watched-call.ts'

/** Number of calls with one token that prove its reuse. */
const reused = 5
/** Number of sign-ins in a row, each for at most two calls within a minute, that prove the opposite. */
const needless = 4
const minuteMs = 60_000
/** Number of refusals of one token after which its client must have noticed. */
const noticed = 3
/** Maximum number of tokens that are kept. */
const maxTokens = 200
/** Minimum time between two refused sign-ins, in milliseconds: 20 failures a minute are allowed. */
const signInPauseMs = 3_000

const secretName = /^(?:secret_?key|secret)$/i

/** Checks of keys, digests, tokens and passwords. */
export const signInChecks: readonly ClientCheck[] = [
  {
    id: 'signsDigest',
    source: specification('5'),
    start: () => (call) => {
      if (!call.is(authenticate)) return undefined
      if (call.ret === success) return true
      // A reason about the form or the credential confirms the digest.
      const { reason, msg } = call.observation
      const isWrong =
        reason !== '' && !reason.startsWith('the digest is right') && msg !== sentenceOf('tooManyFailures')
      return call.hasFailed('authenticationFailed') && isWrong ? false : undefined
    },
  },
  {
    id: 'keepsToken',
    source: contract('2'),
    start: () => {
      const uses = new LRUCache<string, number>({ max: maxTokens })
      let signedInAt = Number.NEGATIVE_INFINITY
      let calls = 0
      let streak = 1
      let hasReason = false
      return (call) => {
        if (call.isTokenRefused) hasReason = true
        if (call.is(authenticate) && call.ret === success) {
          const isNeedless = !hasReason && calls <= 2 && call.arrivedAt - signedInAt < minuteMs
          streak = isNeedless ? streak + 1 : 1
          signedInAt = call.arrivedAt
          calls = 0
          hasReason = false
          return streak >= needless ? false : undefined
        }
        if (call.token === '') return undefined
        calls += 1
        const count = (uses.get(call.token) ?? 0) + 1
        uses.set(call.token, count)
        return count === reused ? true : undefined
      }
    },
  },
  {
    id: 'renewsToken',
    source: contract('2'),
    fault: { operation: '*', ret: 602 },
    start: () => {
      const refusals = new LRUCache<string, number>({ max: maxTokens })
      return (call) => {
        if (call.isTokenRefused && call.token !== '') {
          const count = (refusals.get(call.token) ?? 0) + 1
          refusals.set(call.token, count)
          return count >= noticed ? false : undefined
        }
        if (!call.is(authenticate) || call.ret !== success || refusals.size === 0) return undefined
        refusals.clear()
        return true
      }
    },
  },
  {
    id: 'waitsAfterRefusedSignIn',
    source: contract('2'),
    fault: { operation: authenticate.name, ret: 401 },
    start: () =>
      judgeRepetitions((call) => call.is(authenticate) && call.hasFailed('authenticationFailed'), signInPauseMs),
  },
  {
    id: 'namesToken',
    source: specification('5'),
    start: () => (call) => {
      if (call.contract === undefined || call.token === '') return undefined
      const names = call.observation.api === 'media' ? ['access_token'] : ['accessToken', 'access_token']
      return names.some((name) => call.text(name) !== undefined)
    },
  },
  {
    id: 'escapesPlus',
    source: contract('1'),
    start: () => (call) => {
      // In JSON, a plus needs no escape.
      if (call.mediaType?.startsWith('application/json') === true) return undefined
      const signed = [...(call.contract?.token ?? []), 'digest'].map((name) => call.text(name) ?? '')
      // Base64 contains no space: a space is a plus that was not escaped.
      if (signed.some((value) => value.includes(' '))) return false
      return signed.some((value) => value.includes('+')) ? true : undefined
    },
  },
  {
    id: 'keepsSecret',
    source: specification('5'),
    start:
      ({ isSecret }) =>
      (call) => {
        for (const [name, value] of call.observation.params)
          if (isSecretName(name) || (typeof value === 'string' && isSecret(value))) return false
        return call.is(authenticate) ? true : undefined
      },
  },
  {
    id: 'separatesLogin',
    source: specification('2.3'),
    start: () => (call) => {
      if (!call.is(createOutgoingUser)) return undefined
      if (/^rtsps?:\/\/[^/]*@/i.test(call.text('userAddress') ?? '')) return false
      return hasLogin(call) ? true : undefined
    },
  },
]

/** Whether a parameter of this name can only contain a secret key. */
export function isSecretName(name: string): boolean {
  return secretName.test(name)
}

function hasLogin(call: WatchedCall): boolean {
  const options = call.observation.params.get('options')
  const text = typeof options === 'string' ? options : JSON.stringify(options ?? {})
  return text.includes('login_name')
}
