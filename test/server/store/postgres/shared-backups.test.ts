import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { backupsFolder } from '../../../../server/store/files/documents.ts'
import { listBackups } from '../../../../server/store/backups/backups.ts'
import { createRoom, open, temporaryFolder, topics } from '../../../support/sites/store-site.ts'
import { databaseSite, postgresOfFile } from '../drivers.ts'

const postgres = postgresOfFile()

test('The machine with the backups is lost: the next leader lists them, shows their content, and restores one', async () => {
  const { database, folder } = await databaseSite(await postgres())
  const first = await open(folder, { database })
  await createRoom(first, 'hall', 'Hall')
  const made = await first.backups.make(true)
  await createRoom(first, 'yard', 'Yard')
  const later = await first.backups.make()
  const archive = await first.backups.read(made.name, 0, 10_000_000)
  await first.close()
  await rm(folder, { recursive: true })

  const second = await open(await temporaryFolder(), { database })
  expect(await second.backups.list()).toEqual([later, made])
  expect(await second.backups.proof(made.name, false)).toBe('good')
  expect(await second.restore.preview(made.name)).toMatchObject({ rooms: 1 })
  expect(await second.backups.proof(made.name, true)).toBe('good')
  expect(await second.backups.read(made.name, 0, 10_000_000)).toEqual(archive)
  await second.restore.run(made.name)
  expect(topics(second)).toEqual({ hall: 'Hall' })
  // The state before, numbered on.
  const [before] = await second.backups.list()
  expect(before?.name).toMatch(/-000003$/)
  expect(await second.restore.preview(before?.name ?? '')).toMatchObject({ rooms: 2 })
  await second.close()
})

test('A backup pinned, unpinned or deleted on one machine is so on all, also on one that returns with its folder', async () => {
  const { database, folder } = await databaseSite(await postgres())
  const first = await open(folder, { database })
  await createRoom(first, 'hall')
  const [one, two, three] = [await first.backups.make(true), await first.backups.make(), await first.backups.make(true)]
  await first.close()
  const another = await temporaryFolder()
  const second = await open(another, { database })
  await second.backups.keep(two.name, true)
  await second.backups.keep(three.name, false)
  await second.backups.delete(one.name)
  await expect(second.backups.delete(one.name)).rejects.toMatchObject({ code: 'parameter' })
  const listed = await second.backups.list()
  expect(listed.map(({ name, kept }) => [name, kept])).toEqual([
    [three.name, false],
    [two.name, true],
  ])
  await second.close()
  const back = await open(folder, { database })
  expect(await back.backups.list()).toEqual(listed)
  await vi.waitFor(
    async () => expect((await listBackups(folder)).map(({ name }) => name)).not.toContain(one.name),
    15_000,
  )
  await back.close()
})

test('Existing backups of a data folder are stored in the database, and one with modified rows is rejected', async () => {
  const server = await postgres()
  const { database, folder, schema } = await databaseSite(server)
  const first = await open(folder, { database })
  await createRoom(first, 'hall')
  const made = await first.backups.make(true)
  await first.close()
  const older = await temporaryFolder()
  await cp(join(folder, backupsFolder), join(older, backupsFolder), { recursive: true })
  await server.query(`delete from ${schema}.roomdesk_backup`)
  const second = await open(older, { database })
  const rows = async () => await server.query(`select name from ${schema}.roomdesk_backup`)
  await vi.waitFor(async () => expect(await rows()).toEqual([{ name: made.name }]), 15_000)
  await second.close()

  await server.query(`update ${schema}.roomdesk_backup set proof = replace(proof, 'site.json', 'sito.json')`)
  const third = await open(await temporaryFolder(), { database })
  expect(await third.backups.proof(made.name, false)).toBe('wrong')
  // Its files are what counts.
  expect(await third.backups.proof(made.name, true)).toBe('good')
  await third.close()
  await server.query(`update ${schema}.roomdesk_backup_part set content = '\\x00'`)
  const fourth = await open(await temporaryFolder(), { database })
  await expect(fourth.restore.run(made.name)).rejects.toMatchObject({ code: 'storage' })
  await createRoom(fourth, 'goes on')
  await fourth.close()
})

test('While the database does not answer, the backups of the data folder are listed', async () => {
  const server = await postgres()
  const { database, folder } = await databaseSite(server)
  const store = await open(folder, { database })
  await createRoom(store, 'hall')
  const made = await store.backups.make()
  await server.signal('SIGINT')
  expect(await store.backups.list()).toEqual([made])
  await expect(store.backups.delete(made.name)).rejects.toMatchObject({ code: 'storage' })
  await server.launch()
  await vi.waitFor(() => store.backups.delete(made.name), { timeout: 15_000, interval: 500 })
  expect(await store.backups.list()).toEqual([])
  await store.close()
})
