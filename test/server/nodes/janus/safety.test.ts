import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { sole } from '../../../support/sole-leadership.ts'
import type { JanusAccess } from '../../../../server/nodes/secrets/janus-access.ts'
import { inspectJanus, type InspectionContext } from '../../../../server/nodes/janus/safety/inspect-janus.ts'
import type { JanusServer } from '../../../support/janus/janus-server.ts'
import { startJanus } from '../../../support/janus/janus-server.ts'
import { safeSecrets, startSafeJanus } from '../../../support/janus/safe-janus.ts'
import { JanusSite } from '../../../support/sites/janus-site.ts'

/** A node that sends its events. */
const told = (): Promise<boolean> => Promise.resolve(true)
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Lists the findings as `severity code`, the worst first. */
async function findingsOf(access: JanusAccess, context: Partial<InspectionContext> = {}): Promise<string[]> {
  const { findings } = await inspectJanus(access, { logger, clock: Date.now, events: told, ...context })
  return findings.map(({ severity, code }) => `${severity} ${code}`)
}

describe('On a node with our configuration files', () => {
  let janus: JanusServer
  let access: JanusAccess
  beforeAll(async () => {
    ;({ janus, access } = await startSafeJanus())
  })
  afterAll(() => janus[Symbol.asyncDispose]())
  const withSecrets = (changes: Partial<typeof safeSecrets>): JanusAccess => ({
    ...access,
    secrets: { ...safeSecrets, ...changes },
  })

  test('nothing is found, and the test leaves nothing behind', async () => {
    const found = await inspectJanus(access, { logger, clock: Date.now, events: told })
    expect(found).toEqual({ version: '1.1.2', plugins: ['streaming', 'videoroom'], findings: [] })
    expect(await janus.ask('videoroom', { request: 'list', admin_key: safeSecrets.admin_key })).toMatchObject({
      list: [],
    })
  })

  test('each wrong or missing secret is named', async () => {
    expect(await findingsOf(withSecrets({ api_secret: 'x' }))).toEqual(['error apiSecretWrong'])
    expect(await findingsOf(withSecrets({ admin_secret: 'x' }))).toEqual(['error adminSecretWrong'])
    expect(await findingsOf(withSecrets({ token_secret: 'x' }))).toEqual(['error tokenSecretWrong'])
    expect(await findingsOf({ ...withSecrets({ token_secret: 'x' }), given: [] })).toEqual(['error tokenSecretMissing'])
    expect(await findingsOf(withSecrets({ admin_key: 'x' }))).toEqual(['error adminKeyWrong', 'error adminKeyWrong'])
  })

  test('clock differences are reported, to the second', async () => {
    const ahead = await inspectJanus(access, { logger, clock: () => Date.now() - 20_000, events: told })
    expect(ahead.findings).toMatchObject([{ code: 'clockAhead', severity: 'notice' }])
    expect(Math.abs(Number(ahead.findings[0]?.values.seconds) - 20)).toBeLessThanOrEqual(1)
    const behind = await inspectJanus(access, { logger, clock: () => Date.now() + 3_600_000, events: told })
    expect(behind.findings).toMatchObject([{ code: 'clockBehind', severity: 'error' }])
    expect(Math.abs(Number(behind.findings[0]?.values.seconds) - 3_600)).toBeLessThanOrEqual(1)
  })

  test('an address of another server is reported with the reason', async () => {
    expect(await findingsOf({ ...access, wsUrl: 'ws://127.0.0.1:9' })).toEqual(['error wsUnreachable'])
    expect(await findingsOf({ ...access, wsUrl: access.adminUrl.replace('http', 'ws') })).toEqual(['error wsNotJanus'])
    expect(await findingsOf({ ...access, adminUrl: 'http://127.0.0.1:9/admin' })).toEqual(['error adminUnreachable'])
    expect(await findingsOf({ ...access, adminUrl: access.adminUrl.replace('admin', 'wrong') })).toEqual([
      'error adminNotJanus',
    ])
    expect(await findingsOf({ ...access, adminUrl: '' })).toEqual(['unsafe adminUnused'])
    expect(await findingsOf(access, { events: undefined })).toEqual(['notice eventsOff'])
    const page = createServer((_, response) => response.end('<h1>A page</h1>')).listen(0, '127.0.0.1')
    onTestFinished(() => void page.close())
    await once(page, 'listening')
    const { port } = page.address() as AddressInfo
    const otherServer = { wsUrl: `ws://127.0.0.1:${port}`, adminUrl: `http://127.0.0.1:${port}/admin` }
    expect((await findingsOf({ ...access, ...otherServer })).sort()).toEqual([
      'error adminNotJanus',
      'error wsNotJanus',
    ])
  })

  test('the Admin API of another server is not accepted', async () => {
    const other = await startSafeJanus()
    onTestFinished(() => other.janus[Symbol.asyncDispose]())
    expect(await findingsOf({ ...access, adminUrl: other.access.adminUrl })).toEqual(['error serversDiffer'])
  })
})

test('On a node in its default installation, each open access is found by an attempt', async () => {
  const janus = await startJanus({ secrets: { api: '', admin: '', adminKey: '' }, files: asInstalled })
  onTestFinished(() => janus[Symbol.asyncDispose]())
  const { wsUrl, adminUrl } = janus
  const access = { name: 'hall', wsUrl, adminUrl, secrets: safeSecrets, given: [], leadership: sole }
  expect(await findingsOf(access)).toEqual([
    'unsafe tokenAuthOff',
    'unsafe adminOpen',
    'unsafe roomsCreatable',
    'unsafe camerasCreatable',
    'unsafe forwardingOpen',
    'unsafe roomsUnguarded',
    'notice reclaimOff',
    'notice roomsListed',
    'notice dependenciesShown',
    'notice pluginsUnused',
  ])
  expect(await janus.ask('videoroom', { request: 'list' })).toMatchObject({ list: [{ room: '1234' }] })
})

/** Settings of the package's own files, as far as they matter here, except that its rooms have names. */
function asInstalled(files: Readonly<Record<string, string>>): Record<string, string> {
  return {
    ...files,
    'janus.jcfg': (files['janus.jcfg'] ?? '')
      .replace(/^plugins: .*?^\}/ms, '')
      .replace('reclaim_session_timeout = 60', ''),
    'janus.plugin.videoroom.jcfg':
      'general: { string_ids = true }\nroom-1234: { description = "Demo Room" secret = "adminpwd" publishers = 6 }\n',
  }
}

test('A node in service reports the room made for the test; otherwise that is a finding', async () => {
  await using site = await JanusSite.start({
    tokenSecret: 'of tokens',
    adminKey: 'of rooms',
    events: true,
    ownFiles: true,
  })
  const found = (access = site.access): Promise<string[]> =>
    findingsOf(access, { events: (room, signal) => site.nodes.tells(access, room, signal) })
  await expect.poll(() => found()).toEqual([])
  await site.port.stop()
  expect(await found()).toEqual(['notice eventsOff'])
  // Before a node is in service its events cannot be recognised.
  expect(await found({ ...site.access, name: 'new' })).toEqual([])
})

test('A node without names for rooms, and one without a plugin, cannot serve', async () => {
  const numbers = await startSafeJanus({
    files: (files) => ({
      ...files,
      'janus.plugin.videoroom.jcfg': (files['janus.plugin.videoroom.jcfg'] ?? '').replace('string_ids = true', ''),
      'janus.jcfg': (files['janus.jcfg'] ?? '').replace('libjanus_audiobridge', 'libjanus_streaming'),
    }),
  })
  onTestFinished(() => numbers.janus[Symbol.asyncDispose]())
  const { findings } = await inspectJanus(numbers.access, { logger, clock: Date.now, events: told })
  expect(findings.map(({ message }) => message)).toEqual([
    'The plugin janus.plugin.streaming is not loaded: install it, or remove it from the disabled plugins in janus.jcfg.',
    'Rooms require string IDs: set string_ids = true in janus.plugin.videoroom.jcfg.',
    'Plugins that are not needed are loaded (audiobridge): disable them in janus.jcfg.',
  ])
})
