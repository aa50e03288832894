import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  type Headless,
  HeadlessEndedError,
  type HeadlessOptions,
  removeFolder,
  startHeadless,
} from '../support/headless.ts'

async function start(options: HeadlessOptions = {}): Promise<Headless> {
  const server = await startHeadless(options)
  onTestFinished(async () => {
    await server.remove()
  })
  return server
}

async function refused(options: HeadlessOptions): Promise<HeadlessEndedError> {
  const error: unknown = await startHeadless(options).catch((reason: unknown) => reason)
  if (error instanceof HeadlessEndedError) return error
  throw new Error('it started')
}

test('A second controller on one data folder exits with code 1 and names the first', async () => {
  const first = await start()
  const error = await refused({ folder: first.folder })
  expect(error.exitCode).toBe(1)
  expect(error.stderr).toContain(String(first.ready.pid))
  expect(error.stderr).not.toContain('    at ')
})

test('A data folder opens again at once after its process was killed', async () => {
  const first = await startHeadless()
  await first.stop('SIGKILL')
  const second = await start({ folder: first.folder })
  expect(second.ready.pid).not.toBe(first.ready.pid)
})

test('A port in use ends the start with exit code 1 and one line that names the port, the flag and the setting', async () => {
  const blocker = createServer().listen(0, '127.0.0.1')
  await once(blocker, 'listening')
  onTestFinished(() => void blocker.close())
  const { port } = blocker.address() as AddressInfo
  const error = await refused({ flags: ['--device-port', String(port)] })
  expect(error.exitCode).toBe(1)
  const lines = error.stderr.split('\n').filter((line) => line.includes(String(port)))
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('--device-port')
  expect(lines[0]).toContain('listeners.device_port')
  expect(error.stderr).not.toContain('    at ')
})

test('SIGTERM and SIGINT end it with exit code 0', async () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const server = await startHeadless()
    expect(await server.stop(signal)).toBe(0)
    await removeFolder(server.folder)
  }
})

test('An invalid site file ends the start with exit code 1 and the JSON path of each problem, without secrets', async () => {
  const site = {
    credentials: [{ access_key: 'a', secret_key: 'dont show me\n' }],
    nodes: [{ name: 'n', kind: 'toaster' }],
    licence: { max_rooms: -1 },
    extra: 1,
  }
  const error = await refused({ site })
  expect(error.exitCode).toBe(1)
  expect(error.stderr).toContain('$.nodes[0].kind')
  expect(error.stderr).toContain('$.licence.max_rooms')
  expect(error.stderr).toContain('$.credentials[0].secret_key')
  expect(error.stderr).not.toContain('dont show me')
})

test('Secrets on disk are sealed, and the key files are readable by their owner only', async () => {
  const secret = 'a-very-visible-secret'
  const server = await start({ site: { credentials: [{ label: 'x', access_key: 'visible-key', secret_key: secret }] } })
  await server.rpc('rooms.create', { topic: 'Secret room', host_password: 'visible-host-password' })
  await server.stop()
  const found = spawn('grep', ['-rlaE', `${secret}|visible-host-password`, server.folder])
  const [code] = (await once(found, 'exit')) as [number]
  expect(code).toBe(1)
  for (const file of ['console.key', 'seal.key']) {
    expect((await stat(join(server.folder, file))).mode & 0o777).toBe(0o600)
  }
  expect(server.log.join('\n')).not.toContain(secret)
})

test('A data folder of a newer Roomdesk is refused and left unchanged', async () => {
  const server = await startHeadless()
  await server.stop()
  const file = join(server.folder, 'site.json')
  const text = (await readFile(file, 'utf8')).replace(/"version":\s*\d+/, '"version":9999')
  await writeFile(file, text)
  const error = await refused({ folder: server.folder })
  expect(error.exitCode).toBe(1)
  expect(error.stderr).toContain('9999')
  expect(await readFile(file, 'utf8')).toBe(text)
  await removeFolder(server.folder)
})
