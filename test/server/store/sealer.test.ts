import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSealer, KeyFileError, loadKeyFile } from '../../../server/store/sealer.ts'
import { contents, credential, open, sealer, temporaryFolder } from './site.ts'

test('Any text comes back as it was, and looks different each time it is sealed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const sealed = sealer.seal(text)
      expect(sealed).toMatch(/^sealed:v1:[\w-]+$/)
      expect(sealer.seal(text)).not.toBe(sealed)
      expect(sealer.unseal(sealed)).toBe(text)
    }),
  )
})

test('A text of another key, or an altered one, is refused without showing anything', () => {
  const sealed = sealer.seal('the secret')
  const another = createSealer(Buffer.alloc(32, 8))
  const altered = `${sealed.slice(0, 30)}${sealed[30] === 'A' ? 'B' : 'A'}${sealed.slice(31)}`
  for (const attempt of [
    () => another.unseal(sealed),
    () => sealer.unseal(altered),
    () => sealer.unseal('sealed:v1:'),
    () => sealer.unseal('plain'),
  ]) {
    expect(attempt).toThrow(expect.objectContaining({ code: 'internal' }))
  }
  expect(() => createSealer(Buffer.alloc(16))).toThrow(RangeError)
})

test('The key file is made once, for its owner only', async () => {
  const path = join(await temporaryFolder(), 'deep', 'seal.key')
  const keys = await Promise.all([loadKeyFile(path), loadKeyFile(path), loadKeyFile(path)])
  expect(keys[0]).toHaveLength(32)
  expect(keys[1]).toEqual(keys[0])
  expect(keys[2]).toEqual(keys[0])
  expect(await loadKeyFile(path)).toEqual(keys[0])
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await readdir(join(path, '..'))).toEqual(['seal.key'])
})

test('A key file that others may read is closed to them', async () => {
  const path = join(await temporaryFolder(), 'seal.key')
  const key = await loadKeyFile(path)
  await chmod(path, 0o644)
  expect(await loadKeyFile(path)).toEqual(key)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

test('A damaged key file is refused and left alone', async () => {
  const path = join(await temporaryFolder(), 'seal.key')
  for (const text of ['', 'abc', 'z'.repeat(64), '0'.repeat(63)]) {
    await writeFile(path, text)
    await expect(loadKeyFile(path)).rejects.toBeInstanceOf(KeyFileError)
    expect(await readFile(path, 'utf8')).toBe(text)
  }
})

test('A secret is nowhere in the files, in none of its spellings', async () => {
  const folder = await temporaryFolder()
  const store = await open(folder)
  const secret = 'correct-horse-battery-staple'
  await store.transact([], (transaction) =>
    transaction.put('credentials', 'a', { ...credential('a'), secret_key_sealed: store.seal(secret) }),
  )
  await store.snapshot()
  await store.transact([], (transaction) =>
    transaction.put('credentials', 'b', { ...credential('b'), secret_key_sealed: store.seal(secret) }),
  )
  const files = await contents(folder)
  expect(files.size).toBeGreaterThan(5)
  for (const base64 of files.values()) {
    const bytes = Buffer.from(base64, 'base64')
    for (const spelling of ['utf8', 'base64', 'hex'] as const)
      expect(bytes.includes(Buffer.from(secret).toString(spelling))).toBe(false)
  }
  expect(store.unseal(store.get('credentials', 'b')?.secret_key_sealed ?? '')).toBe(secret)
  await store.close()
})
