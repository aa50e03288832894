import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sealedPlaceOf } from '../../../server/store/sealed-places.ts'
import { KeyFileError, loadKeyFile } from '../../../server/store/files/key-file.ts'
import { createSealer } from '../../../server/store/sealer.ts'
import {
  contents,
  crashCopy,
  createRoom,
  credential,
  open,
  sealer,
  temporaryFolder,
} from '../../support/sites/store-site.ts'

const place = sealedPlaceOf('rooms', 'a')

test('Any text opens unchanged, and looks different each time it is sealed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const sealed = sealer.seal(text, place)
      expect(sealed).toMatch(/^sealed:v2:[\w-]+$/)
      expect(sealer.seal(text, place)).not.toBe(sealed)
      expect(sealer.unseal(sealed, place)).toBe(text)
    }),
  )
})

test('A text of another key, or an altered one, is refused without revealing anything', () => {
  const sealed = sealer.seal('the secret', place)
  const another = createSealer(Buffer.alloc(32, 8))
  const altered = `${sealed.slice(0, 30)}${sealed[30] === 'A' ? 'B' : 'A'}${sealed.slice(31)}`
  for (const attempt of [
    () => another.unseal(sealed, place),
    () => sealer.unseal(altered, place),
    () => sealer.unseal('sealed:v1:', place),
    () => sealer.unseal('sealed:v2:', place),
    () => sealer.unseal('plain', place),
    () => sealer.unseal(sealed, sealedPlaceOf('rooms', 'b')),
    () => sealer.unseal(sealed, sealedPlaceOf('accounts', 'a')),
    () => sealer.unseal(sealed.replace('v2', 'v1'), place),
  ]) {
    expect(attempt).toThrow(expect.objectContaining({ code: 'internal' }))
  }
  expect(() => createSealer(Buffer.alloc(16))).toThrow(RangeError)
})

test('The key file is created once, for its owner only', async () => {
  const path = join(await temporaryFolder(), 'deep', 'seal.key')
  const keys = await Promise.all([loadKeyFile(path), loadKeyFile(path), loadKeyFile(path)])
  expect(keys[0]).toHaveLength(32)
  expect(keys[1]).toEqual(keys[0])
  expect(keys[2]).toEqual(keys[0])
  expect(await loadKeyFile(path)).toEqual(keys[0])
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await readdir(join(path, '..'))).toEqual(['seal.key'])
})

test('A key file readable by others is closed to them', async () => {
  const path = join(await temporaryFolder(), 'seal.key')
  const key = await loadKeyFile(path)
  await chmod(path, 0o644)
  expect(await loadKeyFile(path)).toEqual(key)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

test('A damaged key file is refused and left unchanged', async () => {
  const path = join(await temporaryFolder(), 'seal.key')
  for (const text of ['', 'abc', 'z'.repeat(64), '0'.repeat(63)]) {
    await writeFile(path, text)
    await expect(loadKeyFile(path)).rejects.toBeInstanceOf(KeyFileError)
    expect(await readFile(path, 'utf8')).toBe(text)
  }
})

test('A missing key of sealed data is not replaced: the start says what is missing and what to do', async () => {
  const folder = await temporaryFolder()
  const path = join(folder, 'seal.key')
  const key = await loadKeyFile(path)
  const store = await open(folder, { sealer: createSealer(key) })
  await store.transact([], (transaction) =>
    transaction.put('credentials', 'a', {
      ...credential('a'),
      secret_key_sealed: store.seal('secret', sealedPlaceOf('credentials', 'a')),
    }),
  )
  const killed = await crashCopy(folder)
  await store.backups.make()
  await store.close()
  const onlyBackup = await crashCopy(folder)
  await Promise.all(['site.json', 'site.previous.json'].map((name) => rm(join(onlyBackup, name))))
  for (const name of await readdir(onlyBackup)) if (name.startsWith('journal')) await rm(join(onlyBackup, name))
  for (const each of [folder, killed, onlyBackup]) {
    await rename(join(each, 'seal.key'), join(each, 'aside'))
    const before = await contents(each)
    await expect(loadKeyFile(join(each, 'seal.key'))).rejects.toMatchObject({
      name: 'KeyFileError',
      message: expect.stringMatching(
        /^\S+seal\.key is missing, [^\n]*put the file back[^\n]*an empty data folder[^\n]*$/,
      ),
    })
    expect(await contents(each)).toEqual(before)
    await rename(join(each, 'aside'), join(each, 'seal.key'))
    expect(await loadKeyFile(join(each, 'seal.key'))).toEqual(key)
  }
})

test('A folder with data and no sealed texts gets a key', async () => {
  const folder = await temporaryFolder()
  const store = await open(folder)
  await createRoom(store, 'no password')
  await store.close()
  expect(await loadKeyFile(join(folder, 'seal.key'))).toHaveLength(32)
})

test('A folder in place of the key file is named', async () => {
  const path = join(await temporaryFolder(), 'seal.key')
  await mkdir(path)
  await expect(loadKeyFile(path)).rejects.toThrow(`${path} is not a file: move it away`)
})

test('A secret is in no file, in no spelling', async () => {
  const folder = await temporaryFolder()
  const store = await open(folder)
  const secret = 'correct-horse-battery-staple'
  await store.transact([], (transaction) => transaction.put('credentials', 'a', credential('a', secret)))
  await store.backups.make()
  await store.transact([], (transaction) => transaction.put('credentials', 'b', credential('b', secret)))
  const files = await contents(folder)
  expect(files.size).toBeGreaterThan(5)
  for (const base64 of files.values()) {
    const bytes = Buffer.from(base64, 'base64')
    for (const spelling of ['utf8', 'base64', 'hex'] as const)
      expect(bytes.includes(Buffer.from(secret).toString(spelling))).toBe(false)
  }
  expect(store.unseal(store.get('credentials', 'b')?.secret_key_sealed ?? '', sealedPlaceOf('credentials', 'b'))).toBe(
    secret,
  )
  await store.close()
})
