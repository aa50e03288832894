import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeDigest, digestsOf, digestText, hmacKey, matchingForm } from '../../../server/access/digest.ts'
import { digestForms } from '../../../shared/settings/network.ts'

/** Computes an HMAC with openssl, as hex. */
function openssl(hash: string, secret: string, message: string): string {
  const output = execFileSync('openssl', ['dgst', `-${hash}`, '-hmac', secret], { input: message, encoding: 'utf8' })
  return output.trim().split(/\s+/).at(-1) ?? ''
}

test('the test vector of the public SDKs', () => {
  expect(digestText('sha1-hex', hmacKey('demo_secret'), 'demo_access')).toBe(
    'MWFjZjMzNWU3NGZkMDk1ZjBiNGE4NmM2YWVlOGRhODBmZjg5M2RlNg==',
  )
})

test.each([
  ['demo_secret', 'demo_access'],
  ['s3cr&t with spaces', '5d41402abc4b2a76b9719d911017c592:c3fcd3d76192e4007dfb496cca67e13b'],
  ['密钥', '消息'],
])('openssl computes the same four digests with the secret %j', (secret, message) => {
  const sha1 = openssl('sha1', secret, message)
  const sha256 = openssl('sha256', secret, message)
  const key = hmacKey(secret)
  expect(digestText('sha1-hex', key, message)).toBe(Buffer.from(sha1).toString('base64'))
  expect(digestText('sha1-raw', key, message)).toBe(Buffer.from(sha1, 'hex').toString('base64'))
  expect(digestText('sha256-hex', key, message)).toBe(Buffer.from(sha256).toString('base64'))
  expect(digestText('sha256-raw', key, message)).toBe(Buffer.from(sha256, 'hex').toString('base64'))
})

const form = fc.constantFrom(...digestForms)
const text = fc.string({ minLength: 1, maxLength: 40 })

/** Ways to write the same base64. */
const spelling = fc.constantFrom<(base64: string) => string>(
  (base64) => base64,
  (base64) => base64.replace(/=+$/, ''),
  (base64) => base64.replaceAll('+', '-').replaceAll('/', '_'),
  (base64) => base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
  (base64) => base64.replaceAll('+', ' '),
)

test('property: a valid digest is accepted and its form recognised, however its base64 is written', () => {
  fc.assert(
    fc.property(text, text, form, spelling, (secret, message, wanted, write) => {
      const key = hmacKey(secret)
      const given = decodeDigest(write(digestText(wanted, key, message)))
      return given !== undefined && matchingForm(given, digestsOf(key, message)) === wanted
    }),
  )
})

test('property: a digest of another message or secret is refused', () => {
  fc.assert(
    fc.property(text, text, text, form, (secret, message, other, wanted) => {
      fc.pre(other !== message)
      const key = hmacKey(secret)
      const given = decodeDigest(digestText(wanted, key, other))
      return given !== undefined && matchingForm(given, digestsOf(key, message)) === undefined
    }),
  )
})

test('property: no digest makes the check throw', () => {
  const expected = digestsOf(hmacKey('demo_secret'), 'demo_access')
  fc.assert(
    fc.property(fc.oneof(fc.string({ maxLength: 120 }), fc.base64String({ maxLength: 120 })), (sent) => {
      const given = decodeDigest(sent)
      return given === undefined || matchingForm(given, expected) === undefined
    }),
  )
})

test.each(['', '====', 'a', 'abcde', '!!!!', 'MWFj\u0000', 'x'.repeat(101)])(
  '%j is not the base64 of a digest',
  (sent) => {
    expect(decodeDigest(sent)).toBeUndefined()
  },
)
