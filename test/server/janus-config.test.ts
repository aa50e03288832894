import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { janusConfiguration } from '../../server/bin/janus-config.ts'
import { openControllerSite } from '../support/sites/controller-site.ts'

const hall = {
  name: 'hall',
  kind: 'janus',
  ws_url: 'ws://127.0.0.1:18188',
  admin_url: 'http://127.0.0.1:17088/admin',
  admin_secret: 'the "admin" secret',
  api_secret: '',
} as const

const noFlags = { host: undefined, eventPort: undefined }

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-janus-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

/** Reads the value of a string setting in the printed files. */
const valueOf = (printed: string, name: string): string | undefined =>
  new RegExp(`^\t${name} = "(.*)"$`, 'm').exec(printed)?.[1]

test('The files of a node are the same from the command line and the console, even while the controller runs', async () => {
  const site = await openControllerSite({ nodes: [hall, { name: 'lab', kind: 'simulated' }] })
  onTestFinished(() => site.remove())
  const wanted = { dataFolder: site.folder, sitePath: undefined, name: 'hall', ...noFlags }
  const key = await site.key()
  const { files } = await site.call(key, 'nodes.janus_config', { name: 'hall' })
  const printed = await janusConfiguration(wanted)
  expect(printed).toBe(files.map(({ name, text }) => `# ${name}\n${text}`).join('\n'))
  expect(printed.match(/^# janus\.\S*jcfg$/gm)).toEqual([
    '# janus.jcfg',
    '# janus.transport.http.jcfg',
    '# janus.transport.websockets.jcfg',
    '# janus.plugin.videoroom.jcfg',
    '# janus.plugin.streaming.jcfg',
    '# janus.eventhandler.wsevh.jcfg',
  ])
  expect(valueOf(printed, 'admin_secret')).toBe('the \\"admin\\" secret')
  // Missing secrets are generated, each different.
  const made = ['api_secret', 'token_auth_secret', 'admin_key'].map((name) => valueOf(printed, name))
  for (const secret of made) expect(secret).toMatch(/^[\w-]{43}$/)
  expect(new Set(made).size).toBe(3)
  // A site file applied again still leaves them out, and they are unchanged.
  await site.call(key, 'nodes.update', { ...hall, weight: 2 })
  expect(await janusConfiguration(wanted)).toBe(printed)
  await expect(site.call(key, 'nodes.janus_config', { name: 'lab' })).rejects.toThrow('not a Janus server')
})

test('The event log records who printed the files, without their content', async () => {
  const site = await openControllerSite({ nodes: [hall] })
  onTestFinished(() => site.remove())
  const key = await site.key()
  const { files } = await site.call(key, 'nodes.janus_config', { name: 'hall' })
  const { items: entries } = await site.call(key, 'events.list', {})
  expect(entries.find(({ kind }) => kind === 'secret.shown')).toMatchObject({ subject: { type: 'node', name: 'hall' } })
  for (const text of [JSON.stringify(entries), JSON.stringify(await site.call(key, 'nodes.list', {}))]) {
    expect(text).not.toContain('admin\\" secret')
    expect(text).not.toContain(valueOf(files.map((file) => file.text).join('\n'), 'api_secret'))
  }
})

test('A node of a site file has its files before the first start of the controller', async () => {
  const folder = await temporaryFolder()
  const sitePath = join(folder, 'site.json')
  await writeFile(sitePath, JSON.stringify({ nodes: [hall] }))
  const dataFolder = join(folder, 'data')
  const printed = await janusConfiguration({ dataFolder, sitePath, name: 'hall', ...noFlags })
  expect(valueOf(printed, 'server_name')).toBe('hall')
  expect(printed).toContain('broadcast = false')
  const flags = { host: '0.0.0.0', eventPort: 17_084 }
  const sending = await janusConfiguration({ dataFolder, sitePath: undefined, name: 'hall', ...flags })
  // A node on this machine reaches the event port by the loopback address.
  expect(valueOf(sending, 'backend')).toBe('ws://127.0.0.1:17084/janus/hall')
  expect(valueOf(sending, 'subprotocol')).toMatch(/^[\w-]{43}$/)
  expect(sending).toContain('broadcast = true')
  expect(await janusConfiguration({ dataFolder, sitePath: undefined, name: 'hall', ...noFlags })).toBe(printed)
  // A port that the controller picks at the start cannot be written to a file: an error says what to do.
  const picked = await janusConfiguration({
    dataFolder,
    sitePath: undefined,
    name: 'hall',
    ...{ ...flags, eventPort: 0 },
  })
  expect(picked).toMatch(/^\t# .*--event-port 0.*set a fixed port/m)
  expect(picked).toContain('broadcast = false')
})

test('On a site with a certificate, the node’s configuration sends events over TLS and trusts that certificate', async () => {
  const folder = await temporaryFolder()
  const sitePath = join(folder, 'site.json')
  const settings = { tls: { mode: 'self-signed' }, listeners: { event_port: 17_084 } }
  await writeFile(sitePath, JSON.stringify({ nodes: [hall], settings }))
  const printed = await janusConfiguration({ dataFolder: join(folder, 'data'), sitePath, name: 'hall', ...noFlags })
  expect(valueOf(printed, 'backend')).toBe('wss://127.0.0.1:17084/janus/hall')
  expect(printed).toContain('must trust its certificate')
})

test('A request for an unknown node lists the known ones, and writes nothing', async () => {
  const folder = await temporaryFolder()
  await expect(
    janusConfiguration({ dataFolder: folder, sitePath: undefined, name: 'hall', ...noFlags }),
  ).rejects.toThrow('seal.key is missing')
  expect(await readdir(folder)).toEqual([])
  const sitePath = join(folder, 'site.json')
  await writeFile(sitePath, JSON.stringify({ nodes: [hall] }))
  await expect(
    janusConfiguration({ dataFolder: join(folder, 'data'), sitePath, name: 'hal', ...noFlags }),
  ).rejects.toThrow('no Janus node named "hal". Its Janus nodes: hall.')
})

test('A percent-encoded path of the Admin API is decoded in the file: Janus compares it with the decoded path of a request', async () => {
  const folder = await temporaryFolder()
  const sitePath = join(folder, 'site.json')
  const named = (name: string, path: string): object => ({
    ...hall,
    name,
    admin_url: `http://127.0.0.1:17088/${path}`,
  })
  const paths = { spaced: 'my%20admin/%E7%AE%A1%E7%90%86/', plain: 'admin', odd: '100%', unsafe: 'a%0Ab' }
  await writeFile(sitePath, JSON.stringify({ nodes: Object.entries(paths).map(([name, path]) => named(name, path)) }))
  const dataFolder = join(folder, 'data')
  const basePath = async (name: string): Promise<string | undefined> =>
    valueOf(await janusConfiguration({ dataFolder, sitePath, name, ...noFlags }), 'admin_base_path')
  expect(await basePath('spaced')).toBe('/my admin/管理')
  expect(await basePath('plain')).toBe('/admin')
  // A path that cannot be decoded, or would break the file, stays unchanged.
  expect(await basePath('odd')).toBe('/100%')
  expect(await basePath('unsafe')).toBe('/a%0Ab')
})
