import { safeStorage } from 'electron'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { loadDataKey, WrappedKeyError } from '../../main/key.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roomdesk-key-'))
})
afterEach(async () => {
  vi.restoreAllMocks()
  await rm(folder, { recursive: true, force: true })
})

/** A keychain that turns the bytes around. */
function haveKeychain(): void {
  vi.spyOn(safeStorage, 'isAsyncEncryptionAvailable').mockResolvedValue(true)
  vi.spyOn(safeStorage, 'getSelectedStorageBackend').mockReturnValue('gnome_libsecret')
  vi.spyOn(safeStorage, 'encryptStringAsync').mockImplementation(async (text) => Buffer.from(text).reverse())
  vi.spyOn(safeStorage, 'decryptStringAsync').mockImplementation(async (bytes) => ({
    result: Buffer.from(bytes).reverse().toString(),
    shouldReEncrypt: false,
  }))
}

describe('with a keychain', () => {
  beforeEach(haveKeychain)

  test('the key is kept wrapped only, and is the same at the next start', async () => {
    const { key, protection } = await loadDataKey(join(folder, 'site'))
    expect(protection).toBe('system')
    expect(key).toHaveLength(32)
    expect(await readdir(join(folder, 'site'))).toEqual(['seal.key.wrapped'])
    const file = join(folder, 'site/seal.key.wrapped')
    expect(await readFile(file, 'utf8')).not.toContain(key.toString('hex'))
    if (process.platform !== 'win32') expect((await stat(file)).mode & 0o077).toBe(0)
    expect((await loadDataKey(join(folder, 'site'))).key).toEqual(key)
  })

  test('a keychain that does not open it is told, and no new key is made', async () => {
    await loadDataKey(folder)
    vi.spyOn(safeStorage, 'decryptStringAsync').mockRejectedValue(new Error('locked'))
    await expect(loadDataKey(folder)).rejects.toThrow(WrappedKeyError)
    expect(await readdir(folder)).toEqual(['seal.key.wrapped'])
  })
})

test('without a keychain the key is a file of this user, and says so', async () => {
  vi.spyOn(safeStorage, 'getSelectedStorageBackend').mockReturnValue('basic_text')
  const { key, protection } = await loadDataKey(folder)
  expect(protection).toBe('file')
  expect(await readdir(folder)).toEqual(['seal.key'])
  haveKeychain()
  // A keychain that appears later leaves the key where the headless controller finds it too.
  expect(await loadDataKey(folder)).toEqual({ key, protection: 'file' })
})
