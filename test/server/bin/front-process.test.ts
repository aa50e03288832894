import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { staysInFront } from '../../../server/bin/front-process.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'

const bin = join(import.meta.dirname, '../../../server/bin')
/**
 * Runs a program as on Windows, where no process can take the place of another: it asks for its successor until it has run three times, and then waits for a signal.
 */
function start(ending: string): { front: ChildProcess; lines: AsyncIterableIterator<string> } {
  const source = `
    import { replaceProcess, startBehind, staysInFront } from ${JSON.stringify(join(bin, 'front-process.ts'))}
    process.execve = undefined
    if (staysInFront('win32', process.env)) startBehind(process.env, 'linux')
    else {
      const times = Number(process.env.TIMES ?? 1)
      console.log(times + ' ' + (process.ppid === Number(process.env.FRONT ?? process.ppid)))
      if (times < 3) replaceProcess({ ...process.env, TIMES: String(times + 1), FRONT: String(process.ppid) })
      else { ${ending} }
    }`
  const front = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void front.kill('SIGKILL'))
  if (front.stdout === null) throw new Error('It has no stdout.')
  return { front, lines: createInterface(front.stdout)[Symbol.asyncIterator]() }
}

test('Where a process cannot be replaced, a front process outlives its successors, and exits with the code of the last one', async () => {
  const { front, lines } = start('process.exit(7)')
  const ended = once(front, 'exit')
  for (const line of ['1 true', '2 true', '3 true']) expect((await lines.next()).value).toBe(line)
  expect(await ended).toEqual([7, null])
})

test('A signal to the front process shuts down its successor cleanly; when the front process is killed, the successor is notified', async () => {
  const ending = `process.once('SIGTERM', () => process.exit(3)); console.log('waits'); setInterval(() => {}, 1000)`
  const signalled = start(ending)
  for (let line = 0; line < 4; line++) await signalled.lines.next()
  signalled.front.kill('SIGTERM')
  expect(await once(signalled.front, 'exit')).toEqual([3, null])

  const killed = start(`${ending}; process.once('disconnect', () => { console.log('alone'); process.exit(0) })`)
  for (let line = 0; line < 4; line++) await killed.lines.next()
  killed.front.kill('SIGKILL')
  expect((await killed.lines.next()).value).toBe('alone')
})

test('a successor can be another program, such as the AppImage that replaced this one', async () => {
  const folder = await temporaryFolder(tmpdir())
  const file = join(folder, 'Roomdesk.AppImage')
  await writeFile(file, '#!/bin/sh\necho "$MOUNT $ROOMDESK_BEHIND"; exit 5\n', { mode: 0o755 })
  const source = `
    import { startBehind } from ${JSON.stringify(join(bin, 'front-process.ts'))}
    if (process.env.ROOMDESK_BEHIND) process.send({ MOUNT: 'old' }, () => process.exit(0))
    else startBehind(process.env, 'linux', {
      successor: (given) => ({ program: ${JSON.stringify(file)}, environment: { ...given, MOUNT: 'new' } }),
    })`
  const front = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(front, 'exit')
  expect(await text(front.stdout)).toBe('new 1\n')
  expect(await ended).toEqual([5, null])
})

test('Only Windows has a front process, and a front process has none itself', () => {
  expect(staysInFront('win32', {})).toBe(true)
  expect(staysInFront('win32', { ROOMDESK_BEHIND: '1' })).toBe(false)
  expect(['linux', 'darwin'].map((system) => staysInFront(system as NodeJS.Platform, {}))).toEqual([false, false])
})
