import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { newCode, tokenOfCode } from '../../../server/rooms/join-links.ts'

test('The stored hash of a short link does not reveal its code without the key of the site', () => {
  const code = newCode()
  const token = tokenOfCode(Buffer.alloc(32, 1), code)
  expect(tokenOfCode(Buffer.alloc(32, 1), code)).toBe(token)
  expect(tokenOfCode(Buffer.alloc(32, 2), code)).not.toBe(token)
  for (const text of [code, `short link ${code}`])
    expect(createHash('sha256').update(text).digest('base64url')).not.toBe(token)
})
