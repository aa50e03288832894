import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { siteWithoutMedia, startHeadless } from '../../support/headless.ts'
import { built } from '../../support/built.ts'

const program = built('server/headless.js')

/** Starts a controller whose output goes where nobody can read its ready line. @returns URL of its console */
async function start(stdio: StdioOptions, ...flags: string[]): Promise<{ child: ChildProcess; health: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-output-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const port = await freePort()
  const ports = ['--media-port=0', '--device-port=0', '--node-port=0', `--console-port=${port}`]
  const child = spawn(process.execPath, [program, `--data-dir=${folder}`, ...ports, ...flags], { stdio })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, health: `http://127.0.0.1:${port}/healthz` }
}

async function answers(url: string): Promise<boolean> {
  return await fetch(url).then(
    (answer) => answer.status === 200,
    () => false,
  )
}

async function endOf(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  return (await ended)[0]
}

test('A controller whose stdout is on a full disk starts, answers and shuts down cleanly', async () => {
  const { child, health } = await start(['ignore', openSync('/dev/full', 'w'), 'ignore'])
  await expect.poll(() => answers(health), { timeout: 20_000 }).toBe(true)
  expect(await endOf(child)).toBe(0)
})

test('A controller whose stderr is on a full disk is ready, answers and shuts down cleanly', async () => {
  const through = ['sh', '-c', 'exec "$@" 2>/dev/full', 'sh']
  const controller = await startHeadless({ site: siteWithoutMedia, flags: ['--log-level=debug'], through })
  onTestFinished(() => controller.remove())
  expect(await answers(`${controller.ready.console}/healthz`)).toBe(true)
  expect(await controller.stop()).toBe(0)
})

test('A controller whose log has no reader keeps running and shuts down cleanly', async () => {
  // A pipe holds 64 kB; nothing is read of it.
  const { child, health } = await start(['ignore', 'ignore', 'pipe'], '--log-level=trace')
  await expect.poll(() => answers(health), { timeout: 20_000 }).toBe(true)
  const longPath = `${health}/${'x'.repeat(3_000)}`
  for (let i = 0; i < 60; i++) await answers(longPath)
  expect(await answers(health)).toBe(true)
  expect(await endOf(child)).toBe(0)
})

test('A controller whose output has lost its readers keeps running and shuts down cleanly', async () => {
  const { child, health } = await start(['ignore', 'pipe', 'pipe'], '--log-level=trace')
  child.stdout?.destroy()
  child.stderr?.destroy()
  await expect.poll(() => answers(health), { timeout: 20_000 }).toBe(true)
  expect(await endOf(child)).toBe(0)
})

test('A command whose output does not fit on the disk says so and fails', async () => {
  const full = openSync('/dev/full', 'w')
  const child = spawn(process.execPath, [program, '--version'], { stdio: ['ignore', full, 'pipe'] })
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  expect((await once(child, 'close'))[0]).toBe(1)
  expect(said).toContain('Cannot write the output: ENOSPC')
})

const throughDeletedFolder = async (): Promise<string[]> => {
  const gone = await mkdtemp(join(tmpdir(), 'roomdesk-deleted-'))
  return ['sh', '-c', 'cd "$0" && rmdir "$0" && exec "$@"', gone]
}

test('A controller whose working directory was deleted starts', async () => {
  const controller = await startHeadless({ site: siteWithoutMedia, through: await throughDeletedFolder() })
  onTestFinished(() => controller.remove())
  expect(await answers(`${controller.ready.console}/healthz`)).toBe(true)
})

test('A path that begins at a deleted working directory is refused in one line', async () => {
  const [command = '', ...args] = await throughDeletedFolder()
  const child = spawn(command, [...args, process.execPath, program, '--data-dir', 'data'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  expect((await once(child, 'close'))[0]).toBe(1)
  expect(said).toMatch(/^--data-dir must be an absolute path: .*\n$/)
})
