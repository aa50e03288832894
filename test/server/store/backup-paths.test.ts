import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readArchive, takePart } from '../../../server/store/backups/backup-archive.ts'
import { readBackup } from '../../../server/store/backups/restore.ts'
import { deleteBackup, keepBackup } from '../../../server/store/backups/backups.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'

const names = fc.oneof(
  fc.constantFrom('..', '../outside', '../../outside', '/etc', 'a/../../outside', '..\\..\\outside', '', '.', 'a\0b'),
  fc.string(),
  fc.array(fc.constantFrom('..', '.', 'outside', 'backups', 'key'), { maxLength: 5 }).map((parts) => parts.join('/')),
)

test('no name of a backup or upload leads out of the folder of backups', async () => {
  const place = await temporaryFolder()
  const data = join(place, 'data')
  await mkdir(join(data, 'backups'), { recursive: true })
  await mkdir(join(place, 'outside'))
  await writeFile(join(place, 'outside', 'key'), 'secret')
  await writeFile(join(data, 'seal.key'), 'secret')
  await fc.assert(
    fc.asyncProperty(names, async (name) => {
      const ways = [
        () => keepBackup(data, name, true),
        () => keepBackup(data, name, false),
        () => deleteBackup(data, name),
        () => readBackup(data, name),
        () => readArchive(data, name, 0, 1_000),
        () => takePart(data, name, 0, Buffer.from('x')),
      ]
      for (const way of ways) await way().catch((error: unknown) => expect(error).toBeInstanceOf(Error))
    }),
    { numRuns: 500 },
  )
  expect((await readdir(place)).sort()).toEqual(['data', 'outside'])
  expect(await readdir(join(place, 'outside'))).toEqual(['key'])
  expect((await readdir(data)).sort()).toEqual(['backups', 'seal.key'])
  expect(await readFile(join(place, 'outside', 'key'), 'utf8')).toBe('secret')
  for (const name of await readdir(join(data, 'backups'))) expect(name).toMatch(/^\.uploading-/)
})
