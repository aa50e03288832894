import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Authenticator, parseChallenges, strongestChallenge } from '../../../../server/media/rtsp/authentication.ts'

test('the strongest challenge is answered: SHA-256, then MD5, then Basic', () => {
  const challenges = parseChallenges([
    'Basic realm="camera"',
    'Digest realm="camera", nonce="a", algorithm=MD5, Digest realm="camera", nonce="b", algorithm=SHA-256, qop="auth,auth-int"',
    'Negotiate abc',
  ])
  expect(challenges).toHaveLength(3)
  expect(strongestChallenge(challenges)).toMatchObject({ nonce: 'b', qop: true })
  expect(strongestChallenge(challenges.filter(({ algorithm }) => algorithm !== 'SHA-256'))).toMatchObject({
    nonce: 'a',
  })
  expect(strongestChallenge([])).toBeUndefined()
})

test('an unknown algorithm is not replaced by another one', () => {
  expect(parseChallenges(['Digest realm="x", nonce="y", algorithm=SHA-512-256'])).toEqual([])
})

test('the digest without qop is that of RFC 2617', () => {
  const [challenge] = parseChallenges(['Digest realm="IP Camera(12345)", nonce="abcdef", stale="FALSE"'])
  if (challenge === undefined) throw new Error('no challenge')
  const md5 = (text: string) => createHash('md5').update(text).digest('hex')
  const expected = md5(`${md5('admin:IP Camera(12345):密码@:/?#%')}:abcdef:${md5('DESCRIBE:rtsp://cam/1')}`)
  const field = new Authenticator({ name: 'admin', password: '密码@:/?#%' }, challenge).authorization(
    'DESCRIBE',
    'rtsp://cam/1',
  )
  expect(field).toBe(
    `Digest username="admin", realm="IP Camera(12345)", nonce="abcdef", uri="rtsp://cam/1", response="${expected}"`,
  )
})

test('with qop a nonce has a use count', () => {
  const [challenge] = parseChallenges(['Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256, opaque="o"'])
  if (challenge === undefined) throw new Error('no challenge')
  const authenticator = new Authenticator({ name: 'u', password: 'p' }, challenge)
  const first = authenticator.authorization('OPTIONS', 'rtsp://cam/')
  const [, cnonce = ''] = /cnonce="(\w+)"/.exec(first) ?? []
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  const expected = sha256(`${sha256('u:r:p')}:n:00000001:${cnonce}:auth:${sha256('OPTIONS:rtsp://cam/')}`)
  expect(first).toContain(`response="${expected}"`)
  expect(first).toContain('nc=00000001')
  expect(first).toContain('opaque="o"')
  expect(authenticator.authorization('OPTIONS', 'rtsp://cam/')).toContain('nc=00000002')
})

test('no challenge makes the parser throw, and credentials cannot break out of their field', () => {
  fc.assert(fc.property(fc.array(fc.string()), (fields) => void parseChallenges(fields)))
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'"\\\r\n\0:@, aé密😀') }), fc.string(), (name, realm) => {
      const field = new Authenticator(
        { name, password: 'p' },
        { scheme: 'digest', realm, nonce: 'n', opaque: undefined, algorithm: undefined, qop: true, stale: false },
      ).authorization('PLAY', 'rtsp://cam/')
      expect(field).not.toMatch(/[\r\n]/)
    }),
  )
})
