import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { ProcedureInput, ProcedureName, ProcedureOutput } from '../../../shared/console/contract.ts'
import { AppliedSettings } from '../../../server/console/settings-procedures.ts'
import { Controller } from '../../../server/controller/controller.ts'
import type { Listeners } from '../../../server/http/listeners.ts'
import { createLog } from '../../../server/observe/log.ts'
import { StuckDisk } from '../../../server/lab/stuck-disk.ts'
import { siteFileSchema } from '../../../shared/site-file.ts'
import { outcomeUnknown } from '../../../server/store/storage.ts'
import type { Settings } from '../../../shared/settings.ts'
import { freePort } from '../../support/free-port.ts'
import { open, temporaryFolder } from '../../support/sites/store-site.ts'

async function occupy(port = 0): Promise<{ port: number; server: Server }> {
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, server }
}

/** Starts a controller with its media API on the port of its settings. */
async function controllerAt(media_port: number) {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-applied-'))
  const controller = await Controller.open({
    dataFolder: folder,
    logger: createLog('silent'),
    version: 'test',
    site: siteFileSchema.parse({
      nodes: [{ name: 'lab', kind: 'simulated' }],
      settings: { listeners: { media_port } },
    }),
    overrides: { host: '127.0.0.1', device_port: 0, node_port: 0 },
  })
  onTestFinished(async () => {
    await controller.stop()
    await rm(folder, { recursive: true, force: true })
  })
  await controller.start()
  return {
    async call<N extends ProcedureName>(name: N, input: ProcedureInput<N>): Promise<ProcedureOutput<N>> {
      const result = await controller.dispatch(name, input, { transport: 'internal', client: '', role: 'admin' })
      if (!result.ok) throw new Error(`${name}: ${result.error.message}`)
      return result.value as ProcedureOutput<N>
    },
    folder,
    mediaPort: () => Number(new URL(controller.listeners.url('media')).port),
    deviceUrl: () => new URL(controller.listeners.url('device')),
  }
}

test('A restored backup moves the listeners to the ports of its settings', async () => {
  const [first, second] = [await freePort(), await freePort()]
  const site = await controllerAt(first)
  const { name } = await site.call('backups.make', {})
  await site.call('settings.set', { listeners: { media_port: second } })
  expect(site.mediaPort()).toBe(second)
  expect(await site.call('backups.restore', { name })).toEqual({ problems: [] })
  expect(site.mediaPort()).toBe(first)
  expect((await fetch(`http://127.0.0.1:${first}/rtc/room/get`)).status).toBe(200)
  // The event log shows its addresses, the last one first.
  const { items } = await site.call('events.list', { subject: { type: 'listener', id: 'media' } })
  const urls = items.filter(({ kind }) => kind === 'listener.up').map(({ params }) => params.url)
  expect(urls).toEqual([first, second, first].map((port) => `http://127.0.0.1:${port}`))
})

test('A listener that cannot return to its old port stays on the new one, and the operator reads which and why', async () => {
  const [first, second] = [await freePort(), await freePort()]
  const site = await controllerAt(first)
  const { name } = await site.call('backups.make', {})
  await site.call('settings.set', { listeners: { media_port: second }, room_defaults: { attendee_max: 7 } })
  await occupy(first)
  const { problems } = await site.call('backups.restore', { name })
  expect(problems).toMatchObject([{ path: 'listeners.media_port', message: expect.stringContaining(String(first)) }])
  expect(site.mediaPort()).toBe(second)
  expect((await site.call('settings.get', {})).room_defaults.attendee_max).toBe(100)
})

test('Concurrent changes of settings are all kept', async () => {
  const site = await controllerAt(await freePort())
  await Promise.all([
    site.call('settings.set', { room_defaults: { attendee_max: 7 } }),
    site.call('overview.dismiss_welcome', {}),
    site.call('settings.set', { room_defaults: { max_video: 3 } }),
  ])
  expect(await site.call('settings.get', {})).toMatchObject({
    room_defaults: { attendee_max: 7, max_video: 3 },
    console: { welcome_done: true },
  })
})

test('A listener on a free port keeps that port when it gets a certificate or restarts', async () => {
  const site = await controllerAt(await freePort())
  const { port } = site.deviceUrl()
  await site.call('settings.set', { tls: { mode: 'self-signed' } })
  expect(site.deviceUrl()).toMatchObject({ protocol: 'https:', port })
  await site.call('listeners.restart', {})
  expect(site.deviceUrl()).toMatchObject({ protocol: 'https:', port })
})

test('A broken certificate file does not prevent changes of other settings', async () => {
  const site = await controllerAt(await freePort())
  await site.call('settings.set', { tls: { mode: 'self-signed' } })
  const files = {
    cert_file: join(site.folder, 'tls/self-signed.crt'),
    key_file: join(site.folder, 'tls/self-signed.key'),
  }
  await site.call('settings.set', { tls: { mode: 'file', ...files } })
  await writeFile(files.cert_file, 'no certificate')
  expect(await site.call('settings.check', { console: { language: 'zh' } })).toMatchObject({ ok: true, restarts: [] })
  expect((await site.call('settings.set', { console: { language: 'zh' } })).console.language).toBe('zh')
  await expect(site.call('settings.set', { tls: { cert_file: files.key_file } })).rejects.toThrow('tls.cert_file')
})

test('A certificate that parses but cannot serve is refused, and the port stays unchanged', async () => {
  const site = await controllerAt(await freePort())
  // A key of the size used 20 years ago: Node parses it, its TLS refuses it.
  const made = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'rsa',
    keySize: 512,
    algorithm: 'sha256',
  })
  const files = { cert_file: join(site.folder, 'old.crt'), key_file: join(site.folder, 'old.key') }
  await writeFile(files.cert_file, made.cert)
  await writeFile(files.key_file, made.private)
  const refused = site.call('settings.set', { tls: { mode: 'file', ...files } })
  await expect(refused).rejects.toThrow(/tls\.cert_file: This certificate cannot be served with \(.*small.*2048 bits/)
  expect(site.deviceUrl()).toMatchObject({ protocol: 'http:' })
})

test('A port that a flag overrides is not tested when the bind address changes', async () => {
  const site = await controllerAt(await freePort())
  const { port } = await occupy()
  await site.call('settings.set', { listeners: { device_port: port } })
  expect(await site.call('settings.check', { listeners: { host: 'localhost' } })).toMatchObject({ ok: true })
})

test('Listeners follow settings whose change got no answer, once it is known that they are stored', async () => {
  const stuckDisk = new StuckDisk()
  const store = await open(await temporaryFolder(), { flushGate: stuckDisk })
  onTestFinished(() => store.close())
  const ports: number[] = []
  const apply = async ({ listeners }: Settings): Promise<void> => void ports.push(listeners.media_port)
  const listeners = { apply } as unknown as Listeners
  const applied = new AppliedSettings({
    ...{ store, listeners, folder: '' },
    tls: { material: undefined, problem: () => undefined },
    logger: { warn: () => {} },
  })
  await applied.change({ listeners: { media_port: 1_001 } })
  const transact = store.transact.bind(store)
  store.transact = async (locks, plan) => {
    store.transact = transact
    stuckDisk.begin(10)
    transact(locks, plan).catch(() => {})
    throw outcomeUnknown('test')
  }
  const change = applied.change({ listeners: { media_port: 1_002 } })
  await expect(change).rejects.toMatchObject({ refusal: { name: 'outcomeUnknown' } })
  expect(ports).toEqual([1_001, 1_002, 1_001])
  stuckDisk.end()
  await vi.waitFor(() => expect(ports).toEqual([1_001, 1_002, 1_001, 1_002]))
})
