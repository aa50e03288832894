import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { parseDatabaseAddress } from '../../../../server/store/postgres/database-address.ts'
import { DatabaseError, DatabaseInUseError } from '../../../../server/store/postgres/database-error.ts'
import { migrations, StoreVersionError } from '../../../../server/store/migrations.ts'
import { createSealer } from '../../../../server/store/sealer.ts'
import { databaseSite, postgresOfFile } from '../drivers.ts'
import { createRoom, credential, open, temporaryFolder, topics } from '../../../support/sites/store-site.ts'

const postgres = postgresOfFile()
const newSite = async () => await databaseSite(await postgres())

describe('The address of a database', () => {
  test('Several hosts are tried one by one, and no password is shown', () => {
    const address = parseDatabaseAddress('postgres://ops:s3cret@db1,db2:5433/site?sslmode=disable&password=other')
    expect(address.hosts).toEqual([
      'postgres://ops:s3cret@db1/site?sslmode=disable&password=other',
      'postgres://ops:s3cret@db2:5433/site?sslmode=disable&password=other',
    ])
    expect(address.shown).toBe('postgres://ops@db1,db2:5433/site')
  })

  test('An invalid address is refused without repeating it', () => {
    for (const text of [
      'mysql://ops:s3cret@db/site',
      's3cret',
      'postgres://ops:s3cret@d b:port/x',
      'postgres://ops:s3/cret@db/site',
    ]) {
      expect(() => parseDatabaseAddress(text)).toThrow(DatabaseError)
      expect(() => parseDatabaseAddress(text)).not.toThrow(/s3/)
    }
  })

  test('A missing database is named, with the remedy and without its password', async () => {
    const folder = await temporaryFolder()
    const refused = open(folder, { database: 'postgres://ops:s3cret@127.0.0.1:1/site' })
    await expect(refused).rejects.toThrow(/postgres:\/\/ops@127\.0\.0\.1:1\/site .*ECONNREFUSED.*--store/)
    await expect(refused).rejects.not.toThrow(/s3cret/)
    const server = await postgres()
    const nobody = server.address('public').replace('roomdesk:', 'nobody:')
    await expect(open(folder, { database: nobody })).rejects.toThrow(/role "nobody" does not exist/)
  })
})

describe('One controller per site', () => {
  test('A second controller is refused with the name of the first; when the first ends, the site is free', async () => {
    const site = await newSite()
    const store = await site.open()
    await createRoom(store, '1')
    const other = await temporaryFolder()
    const refused = open(other, { database: site.database })
    await expect(refused).rejects.toBeInstanceOf(DatabaseInUseError)
    await expect(refused).rejects.toThrow(`process ${process.pid}`)
    await createRoom(store, '2')
    await store.close()
    const second = await open(other, { database: site.database })
    expect(Object.keys(topics(second))).toEqual(['1', '2'])
    await second.close()
  })

  test('A fenced leader stores nothing more, however late it resumes, and says why', async () => {
    const site = await newSite()
    const store = await site.open()
    await createRoom(store, '1')
    const server = await postgres()
    await server.query(
      `update ${site.schema}.roomdesk_leader set epoch = epoch + 1, holder = '${randomUUID()}', name = 'another one'`,
    )
    await expect(createRoom(store, '2')).rejects.toMatchObject({
      code: 'storage',
      reason: expect.stringContaining('another one') as string,
    })
    await expect(createRoom(store, '3')).rejects.toMatchObject({ code: 'storage' })
    await expect(store.backups.make()).rejects.toMatchObject({ code: 'storage' })
    expect(store.status().healthy).toBe(false)
    expect(await site.journal()).not.toMatch(/"[23]"/)
    expect(Object.keys(topics(store))).toEqual(['1'])
    await store.close()
  })
})

describe('Content of a database', () => {
  test('Another key, newer tables or newer records are refused, and nothing is changed', async () => {
    const site = await newSite()
    const store = await site.open()
    await createRoom(store, '1')
    await store.close()
    const server = await postgres()
    const everything = () => server.query(`select * from ${site.schema}.roomdesk_site, ${site.schema}.roomdesk_leader`)
    const before = await everything()
    const sealer = createSealer(Buffer.alloc(32, 8))
    await expect(site.open({ sealer })).rejects.toThrow(/sealed with another key.*seal\.key/)
    const older = { ...migrations, current: migrations.current - 1 }
    await expect(site.open({ migrations: older })).rejects.toBeInstanceOf(StoreVersionError)
    expect(await everything()).toEqual(before)
    await server.query(`update ${site.schema}.roomdesk_site set tables = 99`)
    await expect(site.open()).rejects.toThrow(/newer Roomdesk.*version 99/)
  })

  test('A data folder with a site of its own is not mixed with one in a database', async () => {
    const site = await newSite()
    const store = await open(site.folder)
    await createRoom(store, 'in files')
    await store.close()
    await expect(site.open()).rejects.toThrow(/holds a site in files.*--move-store/)
    const again = await open(site.folder)
    expect(Object.keys(topics(again))).toEqual(['in files'])
    await again.close()
  })

  test('Records of an earlier version are migrated to this one', async () => {
    const site = await newSite()
    const current = migrations.current + 1
    const store = await site.open()
    await createRoom(store, 'in a snapshot')
    await store.backups.make()
    await createRoom(store, 'in the journal')
    const crashed = await site.crashed()
    await store.close()
    const renamed = (topic: string) => `${topic}, renamed`
    const steps = new Map([
      ...migrations.steps,
      [
        migrations.current,
        (record: { collection: string; key: string; value: object | undefined }) =>
          record.collection === 'rooms' && record.value !== undefined
            ? [{ ...record, value: { ...record.value, topic: renamed('x') } }]
            : [record],
      ] as const,
    ])
    const migrated = await crashed.open({ migrations: { current, steps } })
    expect(Object.values(topics(migrated))).toEqual([renamed('x'), renamed('x')])
    expect(migrated.status().notices.map(({ code }) => code)).toContain('migrated')
    await migrated.close()
    await expect(crashed.open()).rejects.toBeInstanceOf(StoreVersionError)
  })

  test('Journal rows are deleted once two newer snapshots include them, and a start reads the rest', async () => {
    const site = await newSite()
    const store = await site.open()
    const server = await postgres()
    const rows = async (table: string) =>
      Number((await server.query<{ n: string }>(`select count(*) as n from ${site.schema}.roomdesk_${table}`))[0]?.n)
    for (let i = 0; i < 4; i++) {
      await createRoom(store, `room-${i}`)
      await store.backups.make()
    }
    expect(await rows('snapshot')).toBe(2)
    expect(await rows('snapshot_part')).toBe(2)
    expect(await rows('journal')).toBe(1)
    expect(store.status().journalBytes).toBe(0)
    await createRoom(store, 'last')
    const crashed = await (await site.crashed()).open()
    expect(Object.keys(topics(crashed))).toHaveLength(5)
    expect(crashed.nextRoomNumber()).toBeGreaterThan(5)
    await crashed.close()
    await store.close()
  })

  test('A damaged snapshot is replaced by its predecessor without loss; a missing line is reported as lost', async () => {
    const site = await newSite()
    const store = await site.open()
    const server = await postgres()
    for (let i = 0; i < 3; i++) {
      await createRoom(store, `room-${i}`)
      if (i < 2) await store.backups.make()
    }
    await createRoom(store, 'room-3')
    const [damaged, gapped] = [await site.crashed(), await site.crashed()]
    await store.close()
    const { schema } = damaged as Awaited<ReturnType<typeof databaseSite>>
    await server.query(
      `update ${schema}.roomdesk_snapshot_part set lines = replace(lines, 'room-1', 'room-X') where snapshot = (select max(id) from ${schema}.roomdesk_snapshot)`,
    )
    const first = await damaged.open()
    expect(Object.keys(topics(first))).toEqual(['room-0', 'room-1', 'room-2', 'room-3'])
    expect(first.status().notices.map(({ code }) => code)).toEqual(['recovered'])
    expect(first.status().losses).toEqual([])
    await first.close()
    const other = (gapped as Awaited<ReturnType<typeof databaseSite>>).schema
    await server.query(`delete from ${other}.roomdesk_journal where seq = 3`)
    const second = await gapped.open()
    expect(Object.keys(topics(second))).toEqual(['room-0', 'room-1', 'room-3'])
    expect(second.status().losses).toMatchObject([
      { lost: true, message: expect.stringContaining('One confirmed change') as string },
    ])
    expect(second.nextRoomNumber()).toBeGreaterThan(10_000)
    await second.close()
  })

  test('Backups are files of the data folder, and can be restored into a site of either kind', async () => {
    const site = await newSite()
    const store = await site.open()
    await store.transact([], (transaction) => transaction.put('credentials', 'a', credential('a')))
    for (const id of ['1', '2']) await createRoom(store, id)
    const { name } = await store.backups.make(true)
    await store.transact([], (transaction) => transaction.delete('rooms', '1'))
    expect(await store.restore.preview(name)).toMatchObject({ rooms: 2, credentials: 1 })
    expect(await readdir(`${site.folder}/backups/${name}`)).toEqual(
      expect.arrayContaining(['site.json', 'rooms.json', 'sessions.json']),
    )
    const { bytes, total } = await store.backups.read(name, 0, 10_000_000)
    expect(bytes).toHaveLength(total)
    await store.restore.run(name)
    expect(Object.keys(topics(store)).sort()).toEqual(['1', '2'])
    await store.close()
    const files = await open(await temporaryFolder())
    await files.backups.takeUpload('one', 0, bytes)
    await files.restore.run((await files.backups.addUpload('one')).name)
    expect(Object.keys(topics(files)).sort()).toEqual(['1', '2'])
    await files.close()
  })
})
