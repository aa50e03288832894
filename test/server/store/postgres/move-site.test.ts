import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { moveStore } from '../../../../server/store/move-site.ts'
import { openStore } from '../../../../server/store/open-store.ts'
import { loadKeyFile } from '../../../../server/store/files/key-file.ts'
import { createSealer } from '../../../../server/store/sealer.ts'
import { collectionNames } from '../../../../server/store/state.ts'
import type { Store } from '../../../../server/store/store.ts'
import { databaseSite, postgresOfFile } from '../drivers.ts'
import { siteInFiles, startStore as start } from '../moved-site.ts'
import { createRoom, temporaryFolder, topics } from '../../../support/sites/store-site.ts'

const postgres = postgresOfFile()

const recordsOf = (store: Store): unknown => collectionNames.map((name) => [name, [...store.all(name)]])

test('A site moves to the database and back with every record; its source cannot be opened any more', async () => {
  const { database } = await databaseSite(await postgres())
  const folder = await siteInFiles()
  const first = await start(folder)
  const records = recordsOf(first)
  const number = first.nextRoomNumber()
  await first.close()

  const said = await moveStore({ folder, database, to: 'database' })
  expect(said).toMatch(/every record was compared \(.*rooms 29.*\)/)
  expect(said).not.toContain('a-password')
  await expect(start(folder)).rejects.toThrow(/was moved to postgres:\/\/roomdesk@.*--store/)
  const second = await start(folder, database)
  expect(recordsOf(second)).toEqual(records)
  expect(second.nextRoomNumber()).toBeGreaterThanOrEqual(number)
  await createRoom(second, 'made in the database')
  const later = recordsOf(second)
  await second.close()

  await moveStore({ folder, database, to: 'files' })
  await expect(start(folder, database)).rejects.toThrow(/holds a site in files|was moved to the files/)
  const third = await start(folder)
  expect(recordsOf(third)).toEqual(later)
  expect(third.status().notices).toEqual([])
  await createRoom(third, 'made in files again')
  const last = recordsOf(third)
  await third.close()

  // Moves there again: the database still has an older state.
  await moveStore({ folder, database, to: 'database' })
  const fourth = await start(folder, database)
  expect(recordsOf(fourth)).toEqual(last)
  await fourth.close()
})

test('A target that is not empty is refused, and both sites stay unchanged', async () => {
  const { database } = await databaseSite(await postgres())
  const folder = await siteInFiles(3)
  const other = await temporaryFolder()
  const there = await openStore({
    folder: other,
    database,
    sealer: createSealer(await loadKeyFile(join(folder, 'seal.key'))),
  })
  await createRoom(there, 'of the other site')
  await there.close()
  await expect(moveStore({ folder, database, to: 'database' })).rejects.toThrow(/is not empty/)
  await expect(moveStore({ folder, database, to: 'files' })).rejects.toThrow(/is not empty/)
  await expect(moveStore({ folder, database: undefined, to: 'files' })).rejects.toThrow(/--store/)
  const files = await start(folder)
  expect(Object.keys(topics(files))).toEqual(['room-0', 'room-1'])
  await files.close()
})

test('A folder or a database without a site is refused', async () => {
  const { database } = await databaseSite(await postgres())
  const empty = await temporaryFolder()
  await expect(moveStore({ folder: empty, database, to: 'database' })).rejects.toThrow(/holds no site in files/)
  await expect(moveStore({ folder: empty, database, to: 'files' })).rejects.toThrow(/holds no site/)
})

test('A move that an earlier version left unfinished is finished by the next one', async () => {
  const { database } = await databaseSite(await postgres())
  const folder = await siteInFiles(5)
  await writeFile(join(folder, 'moved-to.txt'), 'postgres://somewhere\n')
  await expect(start(folder, database)).rejects.toThrow(/cut short/)
  await moveStore({ folder, database, to: 'database' })
  const store = await start(folder, database)
  expect(store.all('rooms').size).toBe(4)
  await store.close()
})
