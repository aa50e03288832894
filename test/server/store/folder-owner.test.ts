import { execFileSync } from 'node:child_process'
import { chown, lstat, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadKeyFile } from '../../../server/store/files/key-file.ts'
import { makeDataFolder } from '../../../server/store/files/data-folder.ts'
import { open, temporaryFolder } from '../../support/sites/store-site.ts'

/** A data folder that another local user made in advance. */

const other = 12_345
const asRoot = process.getuid?.() === 0
const taken = async (): Promise<string> => {
  const folder = join(await temporaryFolder(), 'data')
  await mkdir(folder, { mode: 0o777 })
  if (asRoot) await chown(folder, other, other)
  return folder
}
/** This user, as seen from the folder: where the test is not root, the folder's owner is another one. */
const uid = asRoot ? 0 : other

test('A data folder that belongs to another user is refused with the remedy, before anything is written', async () => {
  const folder = await taken()
  await expect(makeDataFolder(folder, { uid })).rejects.toThrow(
    /belongs to another user \(uid \d+\), who could read or replace .* \(chown\), or name another folder with --data-dir/,
  )
})

test.skipIf(!asRoot)('No store opens in a data folder of another user, and no key is created there', async () => {
  const folder = await taken()
  await expect(open(folder)).rejects.toThrow('belongs to another user')
  await expect(loadKeyFile(join(folder, 'seal.key'))).rejects.toThrow('belongs to another user')
  await writeFile(join(folder, 'seal.key'), '')
  await chown(join(folder, 'seal.key'), other, other)
  // A key that the other user planted proves nothing.
  await expect(open(folder)).rejects.toThrow('belongs to another user')
})

test.skipIf(!asRoot)(
  'A data folder of another user with a site of this user opens as before, as in containers',
  async () => {
    const folder = await taken()
    await writeFile(join(folder, 'seal.key'), '')
    const store = await open(folder)
    await store.close()
  },
)

test.skipIf(!asRoot)(
  'A link of another user to a data folder is refused, a link of this user is followed',
  async () => {
    const place = await temporaryFolder()
    const [target, planted, ours] = ['target', 'planted', 'ours'].map((name) => join(place, name)) as [
      ...[string, string, string],
    ]
    await mkdir(target, { mode: 0o700 })
    for (const link of [planted, ours]) await symlink(target, link)
    execFileSync('chown', ['-h', String(other), planted])
    expect((await lstat(planted)).uid).toBe(other)
    await expect(makeDataFolder(planted)).rejects.toThrow('belongs to another user')
    await makeDataFolder(ours)
  },
)

test('A new data folder is created for this user alone, and one of this user or of root is accepted', async () => {
  const folder = join(await temporaryFolder(), 'deep', 'data')
  await makeDataFolder(folder, { uid })
  expect((await lstat(folder)).mode & 0o777).toBe(0o700)
  await makeDataFolder(folder)
})
