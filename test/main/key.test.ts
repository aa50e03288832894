import { safeStorage } from 'electron'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { KeychainError, loadDataKey, siteKeyView } from '../../main/key.ts'
import { KeyFileError } from '../../server/store/files/key-file.ts'
import { createSealer } from '../../server/store/sealer.ts'
import { sealedPlaceOf } from '../../server/store/sealed-places.ts'
import { temporaryFolder } from '../support/sites/store-site.ts'

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder()
})

const wrappedFile = () => join(folder, 'seal.key.wrapped')

/** Starts the app in another session: see the stand-in's keychain. */
function begin(session: 'none' | 'v10' | 'locked' | 'working'): void {
  const standin = safeStorage as unknown as { _begin: (session: string) => void }
  standin._begin(session)
}

describe('with a keychain', () => {
  beforeEach(() => begin('working'))

  test('the key is stored only wrapped, and is the same at the next start', async () => {
    const { key, protection } = await loadDataKey(join(folder, 'site'))
    expect(protection).toBe('system')
    expect(key).toHaveLength(32)
    expect(await readdir(join(folder, 'site'))).toEqual(['seal.key.wrapped'])
    const file = join(folder, 'site/seal.key.wrapped')
    expect(await readFile(file, 'utf8')).not.toContain(key.toString('hex'))
    if (process.platform !== 'win32') expect((await stat(file)).mode & 0o077).toBe(0)
    expect((await loadDataKey(join(folder, 'site'))).key).toEqual(key)
  })

  test.each([
    ['locked', true],
    ['none', false],
    ['v10', false],
  ] as const)(
    'a keychain that cannot open it later (%s) is reported, and no new key is made',
    async (session, isLocked) => {
      const { key } = await loadDataKey(folder)
      begin(session)
      await expect(loadDataKey(folder)).rejects.toThrow(KeychainError)
      await expect(loadDataKey(folder)).rejects.toMatchObject({ isLocked })
      expect(await readdir(folder)).toEqual(['seal.key.wrapped'])
      begin('working')
      expect(await loadDataKey(folder)).toEqual({ key, protection: 'system', file: 'seal.key.wrapped' })
    },
  )

  test('no new key is created for a site whose key is missing', async () => {
    const { key } = await loadDataKey(folder)
    await writeFile(
      join(folder, 'nodes.json'),
      JSON.stringify({ secret: createSealer(key).seal('secret', sealedPlaceOf('rooms', 'r1')) }),
    )
    await rm(wrappedFile())
    await expect(loadDataKey(folder)).rejects.toThrow(KeyFileError)
    await expect(loadDataKey(folder)).rejects.toThrow('neither seal.key.wrapped nor seal.key')
    expect(await readdir(folder)).toEqual(['nodes.json'])
  })

  test('a keychain that refuses to wrap a key leaves nothing behind', async () => {
    vi.spyOn(safeStorage, 'encryptStringAsync').mockRejectedValue(new Error('denied'))
    await expect(loadDataKey(folder)).rejects.toThrow(KeychainError)
    expect(await readdir(folder)).toEqual([])
  })
})

// Without a working keychain, Chromium seals with a public key, and reports that only on Linux.
describe.runIf(process.platform === 'linux').each(['none', 'v10', 'locked'] as const)('without one (%s)', (session) => {
  beforeEach(() => begin(session))

  test('the key is a file of this user, and is reported as such', async () => {
    const { key, protection } = await loadDataKey(folder)
    expect(protection).toBe('file')
    expect(await readdir(folder)).toEqual(['seal.key'])
    begin('working')
    // With a later keychain the key stays where the headless controller finds it, too.
    expect(await loadDataKey(folder)).toEqual({ key, protection: 'file', file: 'seal.key' })
  })

  test('a key that Chromium sealed with its public key counts as unprotected, until a keychain accepts it', async () => {
    const hex = '00'.repeat(32)
    await writeFile(wrappedFile(), await safeStorage.encryptStringAsync(hex))
    const key = Buffer.from(hex, 'hex')
    expect(await loadDataKey(folder)).toEqual({ key, protection: 'file', file: 'seal.key.wrapped' })
    begin('working')
    expect(await loadDataKey(folder)).toEqual({ key, protection: 'system', file: 'seal.key.wrapped' })
    expect((await readFile(wrappedFile(), 'latin1')).slice(0, 3)).toBe('v11')
    expect(await readdir(folder)).toEqual(['seal.key.wrapped'])
    begin(session)
    await expect(loadDataKey(folder)).rejects.toThrow(KeychainError)
  })
})

test('on Windows a copy of the site needs the file with which Chromium opens the wrapped key', () => {
  const { platform } = process
  Object.defineProperty(process, 'platform', { value: 'win32' })
  try {
    expect(siteKeyView({ protection: 'system', file: 'seal.key.wrapped' }, folder)).toEqual({
      place: 'keychain',
      file: 'seal.key.wrapped',
      unprotected: false,
      also: join(folder, 'Local State'),
    })
    expect(siteKeyView({ protection: 'file', file: 'seal.key' }, folder).also).toBe('')
  } finally {
    Object.defineProperty(process, 'platform', { value: platform })
  }
})
