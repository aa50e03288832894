import { expect, onTestFinished, test } from 'vitest'
import type { Store } from '../../../../server/store/store.ts'
import { DatabaseProxy } from '../../../support/postgres/database-proxy.ts'
import { databaseSite, postgresOfFile } from '../drivers.ts'
import { createRoom, open, temporaryFolder, topics } from '../../../support/sites/store-site.ts'

const postgres = postgresOfFile()
/** In milliseconds; long enough for a busy machine to create the tables. */
const databaseDeadlines = { connect: 1_000, answer: 2_000 }

/** A site behind a proxy of its database, which can break. @param deadlineMs timeout of changes */
async function reachedByProxy(deadlineMs = 20_000): Promise<{
  proxy: DatabaseProxy
  site: Awaited<ReturnType<typeof databaseSite>>
  store: Store
}> {
  const server = await postgres()
  const site = await databaseSite(server)
  const proxy = await DatabaseProxy.open(server.socket)
  onTestFinished(() => proxy.close())
  const database = server.address(site.schema, proxy.host)
  const store = await open(site.folder, { database, databaseDeadlines, deadlineMs: () => deadlineMs })
  return { proxy, site, store }
}

/** Reads the rooms after another start. */
async function stored(site: Awaited<ReturnType<typeof databaseSite>>): Promise<string[]> {
  const copy = await (await site.crashed()).open()
  const rooms = Object.keys(topics(copy))
  await copy.close()
  return rooms
}

const notice = (store: Store, wanted: string): Promise<void> =>
  new Promise((resolve) => {
    store.notices.listen(({ code }) => {
      if (code === wanted) resolve()
    })
  })

test('A connection breaks before the answer: the change is stored once, and its caller gets success', async () => {
  const { proxy, site, store } = await reachedByProxy()
  await createRoom(store, 'before')
  const dropped = proxy.dropNextAnswer()
  await Promise.all([createRoom(store, 'unknown'), dropped])
  await createRoom(store, 'after')
  expect(Object.keys(topics(store))).toEqual(['before', 'unknown', 'after'])
  expect(await stored(site)).toEqual(['before', 'unknown', 'after'])
  expect((await site.journal()).match(/"unknown"/g)?.length).toBe((await site.journal()).match(/"after"/g)?.length)
  await store.close()
})

test('A change whose answer is lost is reported as unknown, takes effect once the database is back, and listeners receive it', async () => {
  const { proxy, site, store } = await reachedByProxy(1_000)
  await createRoom(store, 'before')
  const changed: string[] = []
  store.onChange((changes) => changed.push(...changes.map(({ key }) => key)))
  proxy.closed = true
  const dropped = proxy.dropNextAnswer('append')
  const unknown = createRoom(store, 'unknown').catch((error: unknown) => error)
  await dropped
  const waiting = createRoom(store, 'waiting').catch((error: unknown) => error)
  expect(await unknown).toMatchObject({ code: 'storage', refusal: { name: 'outcomeUnknown' } })
  // It never reached the database.
  expect(await waiting).toMatchObject({ code: 'storage', refusal: { name: 'storage' } })
  expect(changed).toEqual([])
  const back = notice(store, 'diskBack')
  proxy.closed = false
  await back
  expect(changed).toEqual(['unknown'])
  expect(await stored(site)).toEqual(['before', 'unknown'])
  await store.close()
})

test('A connection breaks before the statement has arrived: the change waits and is stored when the database is back', async () => {
  const { proxy, site, store } = await reachedByProxy()
  await createRoom(store, 'before')
  proxy.closed = true
  const back = notice(store, 'diskBack')
  const refused = notice(store, 'diskRefused')
  proxy.cut()
  const waiting = createRoom(store, 'meanwhile')
  await refused
  expect(store.status()).toMatchObject({ healthy: false })
  expect(store.status().refusesSince).toBeGreaterThan(0)
  expect(topics(store)).toHaveProperty('before')
  proxy.closed = false
  await waiting
  await back
  expect(store.status()).toMatchObject({ healthy: true, refusesSince: 0 })
  expect(await stored(site)).toEqual(['before', 'meanwhile'])
  await store.close()
})

test('The database is unreachable: reads continue, changes fail at their deadline and are never applied, and it recovers by itself', async () => {
  const { proxy, site, store } = await reachedByProxy(1_500)
  await createRoom(store, 'before')
  const heard: string[] = []
  store.notices.listen(({ message }) => heard.push(message))
  const refused = notice(store, 'diskRefused')
  const back = notice(store, 'diskBack')
  proxy.closed = true
  proxy.cut()
  // The outage is reported even without a change.
  await refused
  await expect(createRoom(store, 'lost')).rejects.toMatchObject({ code: 'storage' })
  await expect(store.responsive(100)).rejects.toMatchObject({ code: 'storage' })
  await expect(store.backups.make()).rejects.toMatchObject({ code: 'storage' })
  expect(store.get('rooms', 'before')?.topic).toBe('A topic')
  store.writeBehind('sessions', 'token', { access_key: 'a', form: 'sha1-hex', created_at: 1, used_at: 2 })
  proxy.closed = false
  await back
  await createRoom(store, 'after')
  expect(await stored(site)).toEqual(['before', 'after'])
  expect(heard.join(' ')).not.toContain('a-password')
  expect(heard[0]).toContain('database')
  await store.close()
  const again = await site.open()
  expect(again.all('sessions').size).toBe(1)
  await again.close()
})

test('A database that hangs is abandoned at its deadline; waiting changes are stored when it answers again', async () => {
  const { proxy, site, store } = await reachedByProxy()
  await createRoom(store, 'before')
  proxy.freeze(true)
  const refused = notice(store, 'diskRefused')
  const began = performance.now()
  const patient = createRoom(store, 'patient')
  await refused
  expect(performance.now() - began).toBeLessThan(5_000)
  expect(topics(store)).toEqual({ before: 'A topic' })
  await expect(store.responsive(100)).rejects.toMatchObject({ code: 'storage' })
  proxy.freeze(false)
  await patient
  expect(await stored(site)).toEqual(['before', 'patient'])
  await store.close()
})

test('Closing while the database is away ends in time, and the next start finds every confirmed change', async () => {
  const { proxy, site, store } = await reachedByProxy()
  await createRoom(store, 'before')
  proxy.closed = true
  const refused = notice(store, 'diskRefused')
  proxy.cut()
  await refused
  const waiting = createRoom(store, 'waiting')
  const failed = expect(waiting).rejects.toMatchObject({ code: 'storage' })
  await store.close()
  await failed
  const again = await site.open()
  expect(Object.keys(topics(again))).toEqual(['before'])
  await again.close()
})

test('A database that returns without confirmed changes gets them again from memory', async () => {
  const { proxy, site, store } = await reachedByProxy()
  for (const id of ['1', '2', '3']) await createRoom(store, id)
  proxy.closed = true
  proxy.cut()
  // As after a failover to an incomplete server, or a restored copy.
  const server = await postgres()
  await server.query(`delete from ${site.schema}.roomdesk_journal where seq >= 2`)
  const recovered = notice(store, 'recovered')
  proxy.closed = false
  await recovered
  await createRoom(store, '4')
  expect(await stored(site)).toEqual(['1', '2', '3', '4'])
  await store.close()
})

test('A read-only or unreachable host is skipped for the next one', async () => {
  const server = await postgres()
  const site = await databaseSite(server)
  const [first, second] = [await DatabaseProxy.open(server.socket), await DatabaseProxy.open(server.socket)]
  onTestFinished(() => second.close())
  const database = server.address(site.schema, `127.0.0.1:1,${first.host},${second.host}`)
  const store = await open(await temporaryFolder(), { database, databaseDeadlines, deadlineMs: () => 20_000 })
  await createRoom(store, '1')
  await first.close()
  await createRoom(store, '2')
  expect(await stored(site)).toEqual(['1', '2'])
  await store.close()
})
