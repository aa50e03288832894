import { createHmac, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { capabilityKinds } from '../../shared/console/capabilities.ts'
import { isExpired, isSecretFresh, secretFreshMs, type SignedKind, tokenKinds } from '../../shared/tokens.ts'
import { issueToken, readToken, unverifiedClaims, type VerifiedToken } from '../../shared/files/signed-tokens.ts'

const key = Buffer.alloc(32, 7)
const now = 1_700_000_000_000
const hour = 3_600_000
const halfDigest = 'oRrgZGnGN0DXsOz4AvKCoNRulPMaZU3808DcbcJ3-QQ'
const consoleKey = '0123456789abcdef0123456789abcdef'

/** Tokens as earlier versions issued them, and what reads them. */
const issued = {
  'key-session': '1700604800000.AAAAAAAAAAAAAAAA.dkZ-GBehzcwzMJE14-ryl7y1pxeyPeRDFGHQMKurA0E',
  'download-ticket': '1700003600000.ftwqMRBQqcM12NxLV_JLm5NzteM5Aa9u_8HKGieGR0U',
  'join-token':
    'eyJ2IjoxLCJpZCI6ImxpbmstMSIsInJvb20iOiIxMjM0NTY3ODkiLCJyb2xlIjoiaG9zdCIsImlhdCI6MTcwMDAwMDAwMDAwMCwiZXhwIjoxNzAwMDAwMDYwMDAwLCJ1c2VyIjoiYW5uIiwibmFtZSI6IueOi-Wwj-aYjiIsInVybCI6Imh0dHBzOi8vYS5leGFtcGxlL2ovYWJjZCJ9.jC4rmE9ZBDFNGMAIcbO8SzVc_UsTckaG_aIg0eS056g',
  'entry-pass': 'loyw3v28.id.mark.yCryTtbKW0GeBYH0NgtQ-CUvtgVkLKEBfUJu-LHr0RM',
  'janus-core': '1700000060,janus,janus.plugin.videoroom:YGEMIdutU80zzmmnrJkXcUijRpE=',
  'janus-controller': '1700000060,janus,janus.plugin.videoroom,janus.plugin.streaming:vF1T3+4Vs0pfmrP64Jz10lksYm0=',
  'janus-room': '1700000060,janus.plugin.videoroom,room=r:1,x,u=YW5uLCDnjos,r=d:EwF0ZKXCPvPsJEKfVq9pDq9zoPs=',
} as const satisfies Record<SignedKind, string>

const janus = { expiresAt: 1_700_000_060 }
const ticket = { expiresAt: now + hour }
const session = { expiresAt: now + 7 * 24 * hour, nonce: 'AAAAAAAAAAAAAAAA' }
const pass = { issuedAt: now, proves: true, host: 'mark' }
const roomToken = { ...janus, room: 'r:1,x', userId: 'ann, 王', role: 'device' } as const
const person = { user: 'ann', name: '王小明', url: 'https://a.example/j/abcd' }
const link = { id: 'link-1', room: '123456789', role: 'host', iat: now, exp: now + 60_000, ...person } as const

describe('A token of an earlier version', () => {
  test('is accepted', () => {
    expect(readToken('key-session', consoleKey, issued['key-session'], now)).toEqual(session)
    expect(readToken('download-ticket', halfDigest, issued['download-ticket'], now, '/recordings/exports/x')).toEqual(
      ticket,
    )
    expect(readToken('join-token', key, issued['join-token'], now)).toEqual({ v: 1, ...link })
    expect(readToken('entry-pass', key, issued['entry-pass'], now, '123456789', 'ann')).toEqual(pass)
    expect(readToken('janus-core', 'secret', issued['janus-core'], now)).toEqual(janus)
    expect(readToken('janus-controller', 'secret', issued['janus-controller'], now)).toEqual(janus)
    expect(readToken('janus-room', 'secret', issued['janus-room'], now)).toEqual(roomToken)
    expect(unverifiedClaims('janus-room', issued['janus-room'])).toEqual(roomToken)
    const old = 'loyw3v28.oXpLEINyYIAfRbNhnlTQfljlrEwLwQZVxtlcwwqF0GI'
    expect(readToken('entry-pass', key, old, now, '123456789', 'ann')).toEqual({ ...pass, proves: false, host: '' })
  })

  test('is the one issued today', () => {
    expect(issueToken('key-session', consoleKey, session)).toBe(issued['key-session'])
    expect(issueToken('download-ticket', halfDigest, ticket, '/recordings/exports/x')).toBe(issued['download-ticket'])
    expect(issueToken('join-token', key, link)).toBe(issued['join-token'])
    expect(issueToken('entry-pass', key, pass, '123456789', 'ann')).toBe(issued['entry-pass'])
    expect(issueToken('janus-core', 'secret', janus)).toBe(issued['janus-core'])
    expect(issueToken('janus-controller', 'secret', janus)).toBe(issued['janus-controller'])
    expect(issueToken('janus-room', 'secret', roomToken)).toBe(issued['janus-room'])
  })
})

/** Reads a text as each kind, all with one key. */
const readers: Readonly<Record<SignedKind, (text: string) => unknown>> = {
  'key-session': (text) => readToken('key-session', key, text, now),
  'download-ticket': (text) => readToken('download-ticket', key, text, now, '/x'),
  'join-token': (text) => readToken('join-token', key, text, now),
  'entry-pass': (text) => readToken('entry-pass', key, text, now, '1', 'ann'),
  'janus-core': (text) => readToken('janus-core', key, text, now),
  'janus-controller': (text) => readToken('janus-controller', key, text, now),
  'janus-room': (text) => readToken('janus-room', key, text, now),
}

test('A token is accepted as its own kind only, also where kinds have the same key', () => {
  const tokens: Record<SignedKind, string> = {
    'key-session': issueToken('key-session', key, session),
    'download-ticket': issueToken('download-ticket', key, ticket, '/x'),
    'join-token': issueToken('join-token', key, link),
    'entry-pass': issueToken('entry-pass', key, pass, '1', 'ann'),
    'janus-core': issueToken('janus-core', key, janus),
    'janus-controller': issueToken('janus-controller', key, janus),
    'janus-room': issueToken('janus-room', key, roomToken),
  }
  const accepted = Object.entries(tokens).map(([kind, token]) => [
    kind,
    Object.entries(readers).flatMap(([reader, read]) => (read(token) === undefined ? [] : [reader])),
  ])
  expect(accepted).toEqual(Object.keys(tokens).map((kind) => [kind, [kind]]))
})

test('Claims of one kind do not compile where another kind is expected', () => {
  const enter = (claims: VerifiedToken<'join-token'> | undefined): unknown => claims
  // @ts-expect-error: an entry pass is no join token
  expect(enter(readToken('entry-pass', key, '', now, '1', 'ann'))).toBeUndefined()
  // @ts-expect-error: nobody has checked the signature
  expect(enter(unverifiedClaims('join-token', ''))).toBeUndefined()
  // @ts-expect-error: an entry pass is for one room and user
  expect(readToken('entry-pass', key, '', now)).toBeUndefined()
})

test('A ticket or pass is refused for another path, room or user', () => {
  expect(readToken('download-ticket', key, issueToken('download-ticket', key, ticket, '/x'), now, '/y')).toBeUndefined()
  const token = issueToken('entry-pass', key, pass, '1', 'ann')
  expect(readToken('entry-pass', key, token, now, '2', 'ann')).toBeUndefined()
  expect(readToken('entry-pass', key, token, now, '1', 'bob')).toBeUndefined()
})

test('A join token is refused when it was changed, or signed with another key', () => {
  const { 'join-token': token } = issued
  const [payload = '', signature = ''] = token.split('.')
  const other = Buffer.from(payload, 'base64url').toString().replace('"host"', '"member"')
  for (const forged of [
    ...[`${Buffer.from(other).toString('base64url')}.${signature}`, `${payload}.`, `${token}.`, `.${signature}`],
    ...[payload, '', 'x'.repeat(5_000)],
  ])
    expect(readToken('join-token', key, forged, now), forged).toBeUndefined()
  expect(readToken('join-token', randomBytes(32), token, now)).toBeUndefined()
  const signed = (text: string): string => `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => readers['join-token'](signed(text)) === undefined))
})

test('A join token carries text in any language', () => {
  const text = fc.string({ minLength: 1, maxLength: 64, unit: 'grapheme' })
  const claims = fc.record({ room: text, user: text, name: text, role: fc.constantFrom('member', 'host', 'observer') })
  fc.assert(
    fc.property(claims, (more) => {
      const token = issueToken('join-token', key, { ...more, id: 'x', iat: now, exp: now + 1 })
      expect(readToken('join-token', key, token, now)).toEqual({ ...more, v: 1, id: 'x', iat: now, exp: now + 1 })
    }),
    { numRuns: 30 },
  )
})

test('Every kind is valid until its expiry, and not at it', () => {
  const settings = { idleMs: 1_000, lifeMs: 5_000 }
  const judged: [at: number, judge: (at: number) => boolean][] = [
    [now + 1_001, (at) => isExpired('api-session', { usedAt: now, createdAt: now, ...settings }, at)],
    [now + 501, (at) => isExpired('api-session', { usedAt: now, createdAt: now - 4_500, ...settings }, at)],
    [now, (at) => isExpired('access-token', { expires_at: now }, at)],
    [now + 7 * 24 * hour, (at) => isExpired('account-session', { created_at: now }, at)],
    [now, (at) => isExpired('key-session', { expiresAt: now }, at)],
    [now, (at) => isExpired('download-ticket', { expiresAt: now }, at)],
    ...capabilityKinds.map((kind): [number, (at: number) => boolean] => [
      now,
      (at) => isExpired(kind, { expires_at: now }, at),
    ]),
    [now, (at) => isExpired('join-token', { exp: now }, at)],
    [now + 12 * hour, (at) => isExpired('entry-pass', { issuedAt: now }, at)],
    [now, (at) => isExpired('janus-room', { expiresAt: now / 1_000 }, at)],
  ]
  expect(judged.map(([at, judge]) => [judge(at - 1), judge(at)])).toEqual(judged.map(() => [false, true]))
  for (const kind of capabilityKinds) expect(isExpired(kind, { expires_at: 0 }, now)).toBe(false)
  expect(isExpired('join-token', { exp: Number.NaN }, now)).toBe(true)
  expect(readToken('join-token', key, issued['join-token'], now + 59_999)).toBeDefined()
  expect(readToken('join-token', key, issued['join-token'], now + 60_000)).toBeUndefined()
})

test('Every stored capability is a kind of token, and its purpose is the kind of its record', () => {
  expect(capabilityKinds.map((kind) => tokenKinds[kind].purpose)).toEqual(capabilityKinds)
})

test('A revealed secret authorises calls for ten minutes, whatever the clock is set to', () => {
  expect([now, now + secretFreshMs - 1].map((at) => isSecretFresh(now, at))).toEqual([true, true])
  expect([now - 1, now + secretFreshMs].map((at) => isSecretFresh(now, at))).toEqual([false, false])
})
