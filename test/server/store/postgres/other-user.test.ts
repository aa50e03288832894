import pino from 'pino'
import { expect, test, vi } from 'vitest'
import { postgresOfFile } from '../drivers.ts'
import { createRoom, topics } from '../../../support/sites/store-site.ts'
import { siteOfControllers, type TestSite, times } from '../../../support/sites/member-site.ts'

const postgres = postgresOfFile()
/** Longer than several attempts to lead. */
const attemptsMs = 10 * times.attempt

/** Creates a database user for each controller, as an operator may, with all rights on the site. @returns addresses by name */
async function usersOf(
  { server, schema }: TestSite,
  names: readonly string[],
): Promise<(name: string, host: string) => string> {
  const user = (name: string): string => `${name}_of_${schema}`
  for (const name of names)
    await server.query(`create role ${user(name)} login; grant all on schema ${schema} to ${user(name)}`)
  for (const name of names)
    for (const other of names)
      await server.query(`alter default privileges for role ${user(name)} in schema ${schema} grant all on tables to ${user(other)};
        alter default privileges for role ${user(name)} in schema ${schema} grant all on sequences to ${user(other)}`)
  return (name, host) => server.address(schema, host).replace('roomdesk:', `${user(name)}:`)
}

test('A replica whose database user may not end the connection of a frozen leader logs the remedy once, and leads once it is applied', async () => {
  const site = await siteOfControllers(await postgres())
  const addressOf = await usersOf(site, ['left', 'right'])
  const first = await site.controller('first', { database: ({ host }) => addressOf('left', host) })
  const led = await first.lead()
  await createRoom(led, 'before')
  const log: string[] = []
  // The database of the tests gives up durability for speed, and the log says so.
  const logger = pino({ level: 'warn' }, { write: (line) => void (line.includes('"risk"') || log.push(line)) })
  const second = await site.controller('second', { database: ({ host }) => addressOf('right', host), logger })
  const leading = second.lead()
  first.proxy.freeze(true)
  await vi.waitFor(() => expect(log).toHaveLength(1), 5_000)
  expect(log[0]).toMatch(
    /"level":40.*does not renew its lease, and its connection cannot be ended \(.+\): let all controllers use one user .* or grant theirs pg_signal_backend\./,
  )
  expect(log[0]).not.toContain('a-password')
  const others = await Promise.race([leading, new Promise((resolve) => setTimeout(resolve, attemptsMs))])
  expect(others).toBeUndefined()
  expect(log).toHaveLength(1)
  // The stored state is known, and no leader is announced.
  expect([...second.member.followed.all('rooms').keys()]).toEqual(['before'])
  expect(second.member.leader()).toBeUndefined()
  expect(second.member.database()).toMatchObject({ awaySince: 0, error: '' })

  await site.server.query(`grant pg_signal_backend to right_of_${site.schema}`)
  const store = await leading
  await createRoom(store, 'after')
  expect(Object.keys(topics(store))).toEqual(['before', 'after'])
  first.proxy.freeze(false)
  await expect(createRoom(led, 'late')).rejects.toMatchObject({ code: 'storage' })
})

test('Without that right, it leads when the connection ends', async () => {
  const site = await siteOfControllers(await postgres())
  const addressOf = await usersOf(site, ['left', 'right'])
  const first = await site.controller('first', { database: ({ host }) => addressOf('left', host) })
  const led = await first.lead()
  await createRoom(led, 'before')
  const log: string[] = []
  const logger = pino({ level: 'warn' }, { write: (line) => log.push(line) })
  const second = await site.controller('second', { database: ({ host }) => addressOf('right', host), logger })
  const leading = second.lead()
  first.proxy.freeze(true)
  await vi.waitFor(() => expect(log.join()).toContain('cannot be ended'), 5_000)
  first.proxy.closed = true
  first.proxy.cut()
  expect(Object.keys(topics(await leading))).toEqual(['before'])
})
