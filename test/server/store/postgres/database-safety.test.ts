import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { Controller } from '../../../../server/controller/controller.ts'
import { readLaunchOptions } from '../../../../server/bin/launch-options.ts'
import { withPasswordOf } from '../../../../server/store/postgres/database-password.ts'
import { databaseRisk } from '../../../../server/store/postgres/database-risks.ts'
import { siteWithoutMedia, startHeadless } from '../../../support/headless.ts'
import { postgresOfFile } from '../drivers.ts'
import { temporaryFolder } from '../../../support/sites/store-site.ts'

const postgres = postgresOfFile()
const at = (host: string, parameters = ''): string => `postgres://ops@${host}/site${parameters}`

test('A database on another machine without TLS or certificate verification is a risk; one on this machine is not', () => {
  expect(databaseRisk(at('10.0.0.11,10.0.0.12'))).toBe('plain')
  expect(databaseRisk(at('127.0.0.1,10.0.0.12'))).toBe('plain')
  expect(databaseRisk(at('db.example', '?sslmode=disable'))).toBe('plain')
  expect(databaseRisk(at('db.example', '?sslmode=no-verify'))).toBe('unverified')
  expect(databaseRisk(at('db.example', '?sslmode=prefer&uselibpqcompat=true'))).toBe('unverified')
  for (const safe of ['127.0.0.1', 'localhost:5433', '[::1]']) expect(databaseRisk(at(safe))).toBeUndefined()
  expect(databaseRisk('postgres:///site?host=/run/postgresql')).toBeUndefined()
  expect(databaseRisk(at('db1.example,db2.example', '?sslmode=verify-full'))).toBeUndefined()
})

test('The overview notifies the operator', async () => {
  const controller = await Controller.open({
    dataFolder: await temporaryFolder(),
    logger: pino({ level: 'silent' }),
    version: 'test',
    databaseRisk: 'plain',
  })
  const overview = await controller.dispatch('overview.get', {}, { transport: 'internal', client: '', role: 'admin' })
  expect(overview).toMatchObject({
    value: {
      attention: expect.arrayContaining([
        expect.objectContaining({ code: 'databasePlain', message: expect.stringContaining('sslmode=verify-full') }),
      ]) as unknown,
    },
  })
  await controller.stop(0)
})

test('A password of the database comes from a file; one in the arguments, which ps shows, causes a warning', async () => {
  const server = await postgres()
  const database = server.address(await server.newSchema())
  const folder = await temporaryFolder()
  const file = join(folder, 'password')
  await writeFile(file, 'a-password\n')
  const shown = await startHeadless({ folder, site: siteWithoutMedia, flags: ['--store', database] })
  await shown.stop()
  expect(shown.log.join('\n')).toContain('use --store-password-file')
  expect(shown.log.join('\n')).not.toContain('a-password')
  const bare = database.replace(':a-password', '')
  const hidden = await startHeadless({ folder, flags: ['--store', bare], env: { ROOMDESK_STORE_PASSWORD_FILE: file } })
  await hidden.stop()
  expect(hidden.log.join('\n')).not.toContain('use --store-password-file')
})

test('An unusable password file is reported in one sentence, without the password', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'password')
  await expect(withPasswordOf(file, at('db'))).rejects.toThrow('cannot be read (ENOENT)')
  await writeFile(file, '\n')
  await expect(withPasswordOf(file, at('db'))).rejects.toThrow('is empty')
  await writeFile(file, 'p@ss/w:rd $& %\r\nnot this')
  expect(await withPasswordOf(file, at('db1,db2'))).toBe(
    at('db1,db2').replace('ops', 'ops:p%40ss%2Fw%3Ard%20%24%26%20%25'),
  )
  await expect(withPasswordOf(file, 'postgres://db/site')).rejects.toThrow('names no user')
  await expect(withPasswordOf(file, 'postgres://ops:secret@db/site')).rejects.toThrow(/^(?!.*secret).*leave one out/)
})

test('The environment can name the file as well, and only a password in the arguments is exposed', () => {
  const store = 'postgres://ops:secret@db/site'
  expect(readLaunchOptions([], { ROOMDESK_STORE: store }).storePasswordShown).toBe(false)
  expect(readLaunchOptions(['--store', store], {}).storePasswordShown).toBe(true)
  expect(readLaunchOptions(['--store', at('db', '?password=secret')], {}).storePasswordShown).toBe(true)
  expect(readLaunchOptions(['--store', at('db')], {}).storePasswordShown).toBe(false)
  expect(readLaunchOptions([], { ROOMDESK_STORE_PASSWORD_FILE: '/run/password' }).storePasswordFile).toBe(
    '/run/password',
  )
})
