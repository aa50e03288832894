import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { appendFile, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { Controller } from '../../../server/controller/controller.ts'
import { forkMediaProcess } from '../../../server/nodes/embedded/fork-process.ts'
import { siteFileSchema } from '../../../shared/site-file.ts'
import { removeFolder } from '../../support/headless.ts'
import { certificateFiles, olderAuthority, renew, shown } from './certificates.ts'
import { mediaProgram } from '../../support/media/media-program.ts'
import { begunCookie, bothHalves } from '../../support/page-session.ts'
import { shared, sharedFolder } from '../../support/fixtures.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'

const names = ['media', 'device', 'node', 'console'] as const
const origin = { transport: 'internal', client: '', role: 'admin' } as const

/** Sends a request over TLS without verification. Resolves to status, headers and body. */
function ask(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string; agent?: Agent } = {},
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }> {
  const { body = '', ...others } = options
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...others, rejectUnauthorized: false }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }))
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

interface Files {
  cert_file: string
  key_file: string
}

/** Prepares a folder with a console page and a certificate. */
async function prepare(folder: string): Promise<Files> {
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>Console</title>')
  return await certificateFiles(folder)
}

/** Starts a site with the certificate of these files. @param logged receives its log */
async function startWith(folder: string, files: Files, logged: string[]): Promise<Controller> {
  const ports = { media_port: 0, device_port: 0, node_port: 0, console_port: 0 }
  const controller = await Controller.open({
    dataFolder: folder,
    logger: pino({ level: 'info' }, { write: (line: string) => void logged.push(line) }),
    version: 'test',
    site: siteFileSchema.parse({
      nodes: [{ name: 'here', kind: 'embedded' }],
      settings: { listeners: ports, tls: { mode: 'file', ...files } },
    }),
    consolePage: folder,
    certificateLookMs: 30,
    media: {
      spawn: forkMediaProcess(mediaProgram),
      pageFolder: folder,
    },
  })
  await controller.start()
  await nodePortOpen(controller)
  return controller
}

/** On a busy machine, the embedded node opens its port after the start of the site or the change of its settings. */
const nodePortOpen = (controller: Controller): Promise<void> =>
  vi.waitFor(() => expect(controller.listeners.url('node')).not.toBe(''), 40_000)

describe('The certificate of a site', () => {
  const logged: string[] = []

  const folder = sharedFolder()
  const files = shared(() => prepare(folder()))
  const controller = shared(
    () => startWith(folder(), files(), logged),
    (controller) => controller.stop(0),
  )

  async function signIn(): Promise<string> {
    const key = (await readFile(join(folder(), 'console.key'), 'utf8')).trim()
    const { status, headers } = await ask(`${controller().listeners.url('console')}/session`, {
      method: 'POST',
      body: JSON.stringify({ key }),
    })
    expect(status).toBe(204)
    begunCookie(headers)
    return String(headers['set-cookie'])
  }

  /** Lists the items that need the operator's attention. */
  async function attention(): Promise<unknown[]> {
    const overview = await controller().dispatch('overview.get', {}, origin)
    return (overview as { value: { attention: { code: string; message: string }[] } }).value.attention.filter(
      ({ code }) => code.startsWith('certificate'),
    )
  }

  test('is used on every port, including the console', async () => {
    const fingerprints = await Promise.all(names.map((name) => shown(controller().listeners.url(name))))
    expect(new Set(fingerprints).size).toBe(1)
    for (const name of names) expect(controller().listeners.url(name)).toMatch(/^https:/)
  })

  test('secures the console: the session and its WebSocket travel over TLS only', async () => {
    const cookie = await signIn()
    expect(cookie).toMatch(/^__Host-roomdesk_session=.*; Path=\/; .*; Secure$/)
    const page = await ask(`${controller().listeners.url('console')}/`)
    const { host } = new URL(controller().listeners.url('console'))
    expect(page.headers['content-security-policy']).toContain(`connect-src 'self' wss://${host};`)
    const plain = { headers: { origin: `http://${host}` } }
    expect((await ask(`${controller().listeners.url('console')}/session`, plain)).status).toBe(403)
  })

  test('renewed in its files, is used for new connections; existing ones stay open', async () => {
    const before = await shown(controller().listeners.url('media'))
    const cookie = (await signIn()).split(';')[0] ?? ''
    const url = controller().listeners.url('console')
    const socket = new WebSocket(`${url.replace('https', 'wss')}/ws`, {
      rejectUnauthorized: false,
      headers: { ...bothHalves(cookie), origin: url },
    })
    await once(socket, 'open')
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const first = await ask(`${controller().listeners.url('media')}/openapi.json`, { agent })
    const renewed = await renew(files())
    for (const name of names) await expect.poll(() => shown(controller().listeners.url(name))).toBe(renewed)
    expect(renewed).not.toBe(before)
    socket.send(JSON.stringify({ id: 1, procedure: 'tls.info' }))
    const answers: string[] = []
    socket.on('message', (data: Buffer) => answers.push(data.toString()))
    await expect.poll(() => answers.find((text) => text.includes('"id":1'))).toContain(renewed)
    expect((await ask(`${controller().listeners.url('media')}/openapi.json`, { agent })).body).toBe(first.body)
    expect(logged.filter((line) => line.includes('the embedded node runs'))).toHaveLength(1)
    agent.destroy()
    socket.close()
  })

  test('an unusable certificate leaves the old one in use, with a warning until it is replaced', async () => {
    const before = await shown(controller().listeners.url('media'))
    await appendFile(files().key_file, 'x')
    await writeFile(files().cert_file, 'no certificate')
    await expect.poll(attention).toMatchObject([
      {
        code: 'certificateBroken',
        message: expect.stringContaining('tls.cert_file: This file holds no certificate'),
      },
    ])
    for (const name of names) expect(await shown(controller().listeners.url(name))).toBe(before)
    expect(logged.filter((line) => line.includes('cannot be used'))).toHaveLength(1)
    const renewed = await renew(files())
    for (const name of names) await expect.poll(() => shown(controller().listeners.url(name))).toBe(renewed)
    await expect.poll(attention).toEqual([])
  })
})

test('a change of certificate in the settings moves no port; without one every port speaks plain HTTP, and consoles opened at https stay there', async () => {
  const folder = await temporaryFolder()
  const controller = await startWith(folder, await prepare(folder), [])
  onTestFinished(() => controller.stop(0))
  expect(await controller.dispatch('settings.check', { tls: { mode: 'self-signed' } }, origin)).toMatchObject({
    value: { ok: true, restarts: [] },
  })
  const before = names.map((name) => controller.listeners.url(name))
  await controller.dispatch('settings.set', { tls: { mode: 'self-signed' } }, origin)
  expect(names.map((name) => controller.listeners.url(name))).toEqual(before)
  expect(await controller.dispatch('settings.check', { tls: { mode: 'off' } }, origin)).toMatchObject({
    value: { ok: true, restarts: ['media', 'device', 'node', 'console'] },
  })
  expect(await controller.dispatch('settings.set', { tls: { mode: 'off' } }, origin)).toMatchObject({ ok: true })
  await nodePortOpen(controller)
  for (const name of names) expect(controller.listeners.url(name)).toMatch(/^http:/)
  const address = `${controller.listeners.url('console')}/session`
  const body = JSON.stringify({ key: (await readFile(join(folder, 'console.key'), 'utf8')).trim() })
  const answer = await fetch(address, { method: 'POST', body })
  expect(answer.headers.get('set-cookie')).toMatch(/^roomdesk_session=/)
  const signedIn = await ask(address.replace('http:', 'https:'), { method: 'POST', body })
  expect(signedIn.headers['set-cookie']).toEqual([expect.stringMatching(/^__Host-roomdesk_session=.*; Secure$/)])
})

test('an unusable certificate at the start is reported in one line with the remedy', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-certificate-'))
  const site = { settings: { tls: { mode: 'file', cert_file: join(folder, 'none.crt'), key_file: '' } } }
  const failure = await Controller.open({
    dataFolder: folder,
    logger: pino({ level: 'silent' }),
    version: 'test',
    site: siteFileSchema.parse(site),
  }).catch((error: unknown) => error)
  expect(failure).toMatchObject({
    code: 'invalid',
    message: expect.stringMatching(/^tls\.cert_file: There is no such file\. .*"tls":\{"mode":"off"\}/),
  })
  await removeFolder(folder)
})

test('a site whose authority could sign for every name starts with another one on all ports, and reports this in log and console', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-certificate-'))
  await olderAuthority(join(folder, 'tls'))
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>Console</title>')
  const logged: string[] = []
  const settings = {
    listeners: { media_port: 0, device_port: 0, node_port: 0, console_port: 0 },
    tls: { mode: 'self-signed' },
    media: { public_url: 'https://rooms.example.org' },
  }
  const controller = await Controller.open({
    dataFolder: folder,
    logger: pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) }),
    version: 'test',
    site: siteFileSchema.parse({ nodes: [{ name: 'here', kind: 'embedded' }], settings }),
    media: {
      spawn: forkMediaProcess(mediaProgram),
      pageFolder: folder,
    },
  })
  await controller.start()
  await nodePortOpen(controller)
  const { value } = (await controller.dispatch('overview.get', {}, origin)) as {
    value: { attention: { code: string; subject: string }[] }
  }
  const { subject, subjectAltName, fingerprint256 } = new X509Certificate(
    await readFile(join(folder, 'tls', 'self-signed.crt')),
  )
  expect(subject).toBe('CN=Roomdesk')
  expect(subjectAltName).toContain('DNS:rooms.example.org')
  expect(
    await Promise.all([shown(controller.listeners.url('media')), shown(controller.listeners.url('node'))]),
  ).toEqual([fingerprint256, fingerprint256])
  const authority = new X509Certificate(await readFile(join(folder, 'tls', 'authority.crt')))
  expect(value.attention).toContainEqual(
    expect.objectContaining({ code: 'authorityReplaced', subject: authority.subject, level: 'warning' }),
  )
  expect(logged.filter((line) => line.includes('The site has a new certificate authority'))).toHaveLength(1)
  await controller.stop(0)
  await removeFolder(folder)
})
