import { expect, onTestFinished, test, vi } from 'vitest'
import { databaseSite, postgresOfFile } from '../drivers.ts'
import { createRoom, open, temporaryFolder, topics } from '../../../support/sites/store-site.ts'
import { siteOfControllers } from '../../../support/sites/member-site.ts'

const postgres = postgresOfFile()

/** Acts like a database with a full disk: it answers, and refuses new lines and snapshots. @returns a function that ends it */
async function refuse(schema: string): Promise<() => Promise<void>> {
  const server = await postgres()
  const tables = ['journal', 'snapshot'].map((name) => `${schema}.roomdesk_${name}`)
  await server.query(
    `create function ${schema}.full() returns trigger language plpgsql as
       $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
     ${tables.map((table) => `create trigger no_space before insert on ${table} for each statement execute function ${schema}.full();`).join('')}`,
  )
  return async () => {
    await server.query(`drop function if exists ${schema}.full() cascade`)
  }
}

test('A database with a full disk refuses single changes, keeps everything else, and recovers without help', async () => {
  const site = await databaseSite(await postgres())
  const store = await site.open()
  await createRoom(store, 'before')
  const room = await refuse(site.schema)
  await expect(createRoom(store, 'refused')).rejects.toMatchObject({
    code: 'storage',
    reason: expect.stringContaining('No space left') as string,
  })
  expect(store.get('rooms', 'refused')).toBeUndefined()
  expect(store.status()).toMatchObject({ healthy: false, medium: 'database' })
  expect(Date.now() - store.status().refusesSince).toBeLessThan(60_000)
  await expect(store.backups.make()).rejects.toMatchObject({ code: 'storage' })
  store.writeBehind('sessions', 'token', { access_key: 'a', form: 'sha1-hex', created_at: 1, used_at: 2 })
  const crashed = await (await site.crashed()).open()
  expect(topics(crashed)).toEqual({ before: 'A topic' })
  await crashed.close()

  const back = new Promise((resolve) => store.notices.listen(({ code }) => code === 'diskBack' && resolve(undefined)))
  await room()
  // Recovery is noticed even without a change.
  await back
  await createRoom(store, 'after')
  await store.backups.make()
  expect(store.status()).toMatchObject({ healthy: true, refusesSince: 0 })
  for (const { message } of store.status().notices) expect(message).toMatch(/^The database /)
  await store.close()
  const again = await site.open()
  expect(topics(again)).toEqual({ before: 'A topic', after: 'A topic' })
  expect(again.all('sessions').size).toBe(1)
  await again.close()
})

test('The leader keeps its role when the disk of the database is full: a replica could store nothing either', async () => {
  const site = await siteOfControllers(await postgres())
  const first = await site.controller('first')
  const led = await first.lead()
  const second = await site.controller('second')
  const next = second.lead()
  next.catch(() => undefined)
  const room = await refuse(site.schema)
  onTestFinished(room)
  await expect(createRoom(led, 'refused')).rejects.toMatchObject({ code: 'storage' })
  const heard = async (): Promise<number> => (await second.member.controllers())[1]?.seenAt ?? 0
  const since = await heard()
  await vi.waitFor(async () => expect(await heard()).toBeGreaterThan(since + 300), { timeout: 3_000 })
  expect(led.confirmed()).toBeUndefined()
  expect(second.led).toBeUndefined()
  await room()
  await createRoom(led, 'after')
  await vi.waitFor(() => expect([...second.member.followed.all('rooms').keys()]).toEqual(['after']))
})

test.each([
  [
    'has no connection left',
    'create role USER login connection limit 0',
    /too many connections.*: end other connections/,
  ],
  ['does not know its user', '', /does not exist.*: correct its user or password/],
])('A start whose database %s says what to mend', async (_, text, message) => {
  const server = await postgres()
  const schema = await server.newSchema()
  const user = `user_of_${schema}`
  if (text !== '') await server.query(text.replace('USER', user))
  const folder = await temporaryFolder()
  const database = server.address(schema).replace('roomdesk:', `${user}:`)
  await expect(open(folder, { database })).rejects.toThrow(message)
})

test('A start without its database says how to create it', async () => {
  const server = await postgres()
  const database = server.address(await server.newSchema()).replace('/postgres?', '/nowhere?')
  await expect(open(await temporaryFolder(), { database })).rejects.toThrow(
    /"nowhere" does not exist.*: create it \(createdb\)/,
  )
})
