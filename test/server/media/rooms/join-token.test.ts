import { createHmac, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { verifyJoinToken } from '../../../../server/media/rooms/verify-join-token.ts'
import { signJoinToken } from '../../../../server/rooms/sign-join-token.ts'
import { decodeJoinClaims } from '../../../../shared/join-token.ts'

const key = randomBytes(32)
const text = (maxLength: number) => fc.string({ minLength: 1, maxLength, unit: 'grapheme' })

describe('a join token', () => {
  test("carries the controller's data to the node, in any language", () => {
    const grants = fc.record({
      roomId: text(64),
      userId: text(64),
      userName: fc.oneof(text(64), fc.constant('王小明 👋')),
      role: fc.constantFrom('member', 'host', 'observer'),
      lifeMs: fc.integer({ min: 1, max: 1e12 }),
    })
    fc.assert(
      fc.property(grants, (grant) => {
        const claims = verifyJoinToken(key, signJoinToken(key, grant, 1_000), 1_000)
        expect(claims).toMatchObject({ room: grant.roomId, user: grant.userId, name: grant.userName, role: grant.role })
        expect(claims).toMatchObject({ iat: 1_000, exp: 1_000 + grant.lifeMs })
      }),
      { numRuns: 30 },
    )
  })

  test('is JSON in base64url and an HMAC-SHA-256: existing links keep working', () => {
    const claims = { v: 1, id: 'abc', room: '123456789', name: 'Zoë', role: 'member', iat: 1, exp: 9e15 }
    const payload = Buffer.from(JSON.stringify(claims)).toString('base64url')
    const signature = createHmac('sha256', key).update(payload).digest('base64url')
    expect(verifyJoinToken(key, `${payload}.${signature}`)).toEqual(claims)
  })

  test('is invalid when it has expired, was changed, or was signed with another key', () => {
    const token = signJoinToken(key, { roomId: '1', role: 'member', lifeMs: 50 }, 1_000)
    expect(verifyJoinToken(key, token, 1_049)).toBeDefined()
    expect(verifyJoinToken(key, token, 1_050)).toBeUndefined()
    expect(verifyJoinToken(randomBytes(32), token, 1_000)).toBeUndefined()
    const [payload = '', signature = ''] = token.split('.')
    const host = Buffer.from(payload, 'base64url').toString().replace('"member"', '"host"')
    for (const forged of [
      `${Buffer.from(host).toString('base64url')}.${signature}`,
      `${payload}.`,
      `${payload}.${signature}.`,
      `.${signature}`,
      payload,
      '',
      'x'.repeat(5_000),
    ]) {
      expect(verifyJoinToken(key, forged, 1_000), forged).toBeUndefined()
    }
  })

  test('is invalid with any other payload', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (payload) => decodeJoinClaims(payload) === undefined))
  })
})
