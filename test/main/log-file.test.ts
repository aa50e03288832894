import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { logFile } from '../../main/log-file.ts'

test('the log never takes more than two files of 5 MiB', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-log-'))
  const path = join(folder, 'logs/roomdesk.log')
  const log = logFile(path)
  const line = `${'x'.repeat(1024 * 1024 - 1)}\n`
  for (let megabytes = 0; megabytes < 14; megabytes++) log.write(line)
  log.write('the last line\n')
  expect((await stat(path)).size).toBeLessThan(6.1 * 1024 * 1024)
  expect((await stat(`${path}.old`)).size).toBeLessThan(6.1 * 1024 * 1024)
  expect((await readFile(path, 'utf8')).endsWith('the last line\n')).toBe(true)
  await rm(folder, { recursive: true, force: true })
})

test('a full log that cannot be renamed, as on Windows while another program has it open, is still written', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-log-'))
  const path = join(folder, 'roomdesk.log')
  await mkdir(`${path}.old`)
  const log = logFile(path)
  log.write(`${'x'.repeat(6 * 1024 * 1024)}\n`)
  log.write('the next line\n')
  log.write('the last line\n')
  expect((await readFile(path, 'utf8')).endsWith('x\nthe next line\nthe last line\n')).toBe(true)
  await rm(folder, { recursive: true, force: true })
})

test('such a log stays bounded, and a new one begins a minute after the other program has let it go', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-log-'))
  const path = join(folder, 'roomdesk.log')
  await mkdir(`${path}.old`)
  let now = 0
  const log = logFile(path, () => now)
  const line = `${'x'.repeat(1024 * 1024 - 1)}\n`
  for (let megabytes = 0; megabytes < 40; megabytes++) log.write(line)
  expect((await stat(path)).size).toBeLessThan(21.1 * 1024 * 1024)
  await rm(`${path}.old`, { recursive: true })
  log.write('too soon for another attempt\n')
  expect(existsSync(`${path}.old`)).toBe(false)
  now = 61_000
  log.write('the first line of a new one\n')
  expect(await readFile(path, 'utf8')).toBe('the first line of a new one\n')
  expect((await stat(`${path}.old`)).size).toBeGreaterThan(5 * 1024 * 1024)
  await rm(folder, { recursive: true, force: true })
})
