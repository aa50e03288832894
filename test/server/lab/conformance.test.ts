import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { XMLParser } from 'fast-xml-parser'
import { expect, onTestFinished, test } from 'vitest'
import { openCamera } from '../../../server/bin/conformance-command.ts'
import { Cameras } from '../../../server/lab/conformance/cameras.ts'
import { ApiClient } from '../../../server/lab/conformance/client.ts'
import { judge } from '../../../server/lab/conformance/judge.ts'
import type { Verdict } from '../../../server/lab/conformance/verdict.ts'
import { allRules } from '../../../server/lab/conformance/rules/all-rules.ts'
import { openSession } from '../../../server/lab/conformance/command.ts'
import { checkPage, reportKeyIn } from '../../../server/lab/report-page.ts'
import { built } from '../../support/built.ts'
import { shared } from '../../support/fixtures.ts'
import { startHeadless } from '../../support/headless.ts'
import { AlteringProxy } from '../../support/lab/altering-proxy.ts'
import { seededDefects } from '../../support/lab/seeded-defects.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'

const credential = { access_key: 'lab', secret_key: 'the secret of the lab', p2p: true }
const allDocuments = ['specification', 'contract'] as const
const rules = allRules.flatMap((group) => group.rules)

const site = {
  credentials: [{ label: 'Lab', ...credential }],
  nodes: [{ name: 'here', kind: 'embedded' as const }],
  // Each run fails to authenticate several times.
  settings: { access: { failures_per_minute: 0 } },
}
/** The controller that the command checks. */
const controller = shared(() => startHeadless({ site }))
/** The controller behind the proxy: where a defect prevents removal, records remain. */
const altered = shared(() => startHeadless({ site }))
const proxy = shared(
  () => AlteringProxy.start(altered().ready),
  (one) => one.stop(),
)
const cameras = shared(
  () => new Cameras(new URL(proxy().urls.device), undefined, openCamera),
  (all) => all.close(),
)

/** Starts the command against the controller. */
function start(...more: string[]): ChildProcess & { output: Promise<[stdout: string, stderr: string]> } {
  const { media, device } = controller().ready
  const words = ['conformance', '--media', media, '--device', device, '--access-key', credential.access_key, ...more]
  const env = { ...process.env, ROOMDESK_SECRET_KEY: credential.secret_key }
  const child = spawn(process.execPath, [built('server/headless.js'), ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return Object.assign(child, { output: Promise.all([text(child.stdout), text(child.stderr)]) })
}

/** Numbers of records that the site has. */
async function records(): Promise<{ rooms: number; devices: number; recordings: number }> {
  const { total: rooms } = await controller().rpc('rooms.list', {})
  const devices = await controller().rpc('devices.list', {})
  const { total: recordings } = await controller().rpc('orders.recordings', {})
  return { rooms, devices: devices.length, recordings }
}

function targetOf({ media, device }: { media: string; device: string }) {
  const { access_key: accessKey, secret_key: secretKey } = credential
  return { media: new URL(media), device: new URL(device), accessKey, secretKey, authorities: undefined }
}

test('The command finds nothing broken in our own server, writes all reports, and leaves nothing behind', async () => {
  const folder = await temporaryFolder()
  const [json, junit, html] = ['json', 'xml', 'html'].map((ending) => join(folder, `report.${ending}`)) as [
    string,
    string,
    string,
  ]
  const command = start('--json', json, '--junit', junit, '--html', html, '--sign-key', join(folder, 'key.pem'))
  const [code] = (await once(command, 'exit')) as [number]
  const [stdout, stderr] = await command.output
  expect({ code, stderr, broken: /^Broken[^]*/m.exec(stdout)?.[0] }).toEqual({ code: 0, stderr: '', broken: undefined })
  expect(stdout).toMatch(/Nothing is broken: \d{3} rules hold, \d+ were not provoked/)
  const report = JSON.parse(await readFile(json, 'utf8')) as { counts: Record<string, number>; rules: Verdict[] }
  expect(report.counts.broken).toBe(0)
  expect(report.counts.holds).toBeGreaterThan(600)
  // A device streamed, a call at a time won: nothing was skipped for want of a camera or a node.
  const skipped = report.rules.flatMap((rule) => (rule.outcome === 'notProvoked' ? [rule.reason] : []))
  expect(skipped.filter((reason) => /camera|needs a site with an MCU|which failed/.test(reason))).toEqual([])
  const xml = await readFile(junit, 'utf8')
  const { testsuites } = new XMLParser({ ignoreAttributes: false }).parse(xml) as {
    testsuites: Record<string, unknown>
  }
  expect(testsuites).toMatchObject({ '@_tests': String(report.rules.length), '@_failures': '0' })
  const [page, written] = [await readFile(html, 'utf8'), await readFile(json, 'utf8')]
  expect(page).toContain(createHash('sha256').update(written).digest('hex'))
  const [, key = ''] = /is signed with the key (\S+)\.\n/.exec(stdout) ?? []
  expect(checkPage(page)).toEqual({ isValid: true, key })
  expect(checkPage(page.replace('Nothing is broken', 'Nothing was broken'))).toEqual({ isValid: false, key })
  for (const text of [stdout, xml, page, written]) expect(text).not.toContain(credential.secret_key)
  expect(await records()).toEqual({ rooms: 0, devices: 0, recordings: 0 })
})

test('An interrupted command removes what it made, and gives no verdict', async () => {
  const command = start()
  await expect.poll(async () => (await controller().rpc('rooms.list', {})).total, { interval: 20 }).toBeGreaterThan(0)
  command.kill('SIGINT')
  const [code] = (await once(command, 'exit')) as [number]
  expect(code).toBe(2)
  expect((await command.output)[0]).toContain('Interrupted, not all rules were checked')
  expect(await records()).toEqual({ rooms: 0, devices: 0, recordings: 0 })
})

test('docs/integrate/lab.md describes every flag of --help', async () => {
  const help = start('--help')
  const flags = [...(await help.output)[0].matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag]) => flag)
  const page = await readFile(join(import.meta.dirname, '../../../docs/integrate/lab.md'), 'utf8')
  expect(flags.length).toBeGreaterThan(5)
  expect(flags.filter((flag) => !page.includes(flag ?? ''))).toEqual([])
})

test('The key of reports is kept in its file, which only its owner reads; a file with something else is refused', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'key.pem')
  const { name } = await reportKeyIn(file)
  expect(await reportKeyIn(file)).toMatchObject({ name })
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  await writeFile(join(folder, 'other'), 'no key')
  await expect(reportKeyIn(join(folder, 'other'))).rejects.toThrow('other cannot be used')
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey
  await writeFile(join(folder, 'rsa'), rsa.export({ format: 'pem', type: 'pkcs8' }))
  await expect(reportKeyIn(join(folder, 'rsa'))).rejects.toThrow('no Ed25519 key')
  await expect(reportKeyIn(join(folder, 'missing', 'key.pem'))).rejects.toThrow('ENOENT')
})

test('Without a session, the command says what to correct', async () => {
  const wrong = start('--secret-key', 'another secret')
  expect((await once(wrong, 'exit'))[0]).toBe(2)
  expect((await wrong.output)[1]).toContain('check --access-key and --secret-key')
  const console = start('--media', controller().ready.console)
  expect((await once(console, 'exit'))[0]).toBe(2)
  expect((await console.output)[1]).toContain('is not the media room API')
})

/** Rules whose calls show what the rules about every answer are about. */
const plainRules = [
  'create_room.success',
  'create_outgoing_user.success',
  'force_offline.nobody',
  'list_users.empty',
  'get_room.new',
]

/** Judges the proxy by one rule, or by plain ones if it is a rule about every answer. */
async function verdictOf(rule: string, deadlineMs?: number): Promise<Verdict | undefined> {
  const wanted = rules.some(({ id }) => id === rule) ? [rule] : plainRules
  const groups = [{ title: 'Defects', rules: rules.filter(({ id }) => wanted.includes(id)) }]
  const client = new ApiClient(targetOf(proxy().urls), deadlineMs)
  const { signal } = new AbortController()
  await openSession(client, signal)
  const { verdicts } = await judge({ client, cameras: cameras(), groups, documents: allDocuments, signal })
  return verdicts.find(({ id }) => id === rule)
}

test.each(seededDefects)('A server that $does breaks $rule', async ({ rule, alter }) => {
  proxy().alter(alter)
  expect(await verdictOf(rule)).toMatchObject({ id: rule, outcome: 'broken' })
})

test('A server that does not answer is reported after the deadline', async () => {
  proxy().alter(async (call) => (call.path === '/rtc/room/get_room_info' ? 'hang' : await call.forward()))
  const verdict = await verdictOf('list_users.empty', 1_000)
  expect(verdict).toMatchObject({ outcome: 'broken', came: 'The server sent no complete answer within 1 s.' })
})

test('There are 40 defects or more, and each rule has an id of its own', () => {
  expect(new Set(seededDefects.map(({ does }) => does)).size).toBe(seededDefects.length)
  expect(seededDefects.length).toBeGreaterThanOrEqual(40)
  expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length)
})

test('A server that refuses to sign in meanwhile gets no verdict', async () => {
  const strict = await startHeadless({
    site: { ...site, settings: { access: { failures_per_minute: 5 } } },
  })
  onTestFinished(() => strict.remove())
  const child = start(`--media=${strict.ready.media}`, `--device=${strict.ready.device}`)
  const [[stdout], [code]] = await Promise.all([child.output, once(child, 'exit')])
  expect(stdout).toContain('this rule needs authenticate, which failed')
  expect([code, stdout]).toEqual([2, expect.stringContaining('No verdict, the server refused to sign in')])
})
