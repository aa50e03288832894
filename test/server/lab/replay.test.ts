import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { XMLParser } from 'fast-xml-parser'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiClient } from '../../support/api-client.ts'
import { built } from '../../support/built.ts'
import { type Headless, startHeadless } from '../../support/headless.ts'

const credential = { label: 'client', access_key: 'demo_access', secret_key: 'demo_secret' }
const site = { credentials: [credential], nodes: [{ name: 'lab', kind: 'simulated' }] }

/** Traffic of a client on one server, replayed against another one. */
describe('roomdesk replay', () => {
  let folder: string
  let file: string
  let first: Headless
  let second: Headless

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roomdesk-replay-'))
    file = join(folder, 'traffic.ndjson')
    ;[first, second] = await Promise.all([startHeadless({ site }), startHeadless({ site })])
    // The ids of the second server's rooms must not be equal by chance.
    await second.rpc('rooms.create', { topic: 'Somebody else' })
    const client = new ApiClient(first.ready, credential)
    await first.rpc('lab.record_traffic', { running: true })
    await client.authenticate()
    const room = await client.createRoom({ topic: 'Morning + more', host_password: 'hunter2' })
    await client.get('/rtc/room/get', { room_id: room })
    await client.get('/rtc/room/get', { room_id: 'unknown' })
    await client.get('/rtc/room/get', { room_id: room }, 'not-a-token')
    await client.outgoing('createOutgoingUser', {
      roomId: room,
      userId: 'yard',
      userName: 'Yard',
      userAddress: 'rtsp://admin:hunter2@10.0.0.9/live',
    })
    await client.outgoing('getOutgoingUsers', { roomId: room })
    await client.get('/rtc/room/del', { room_id: room })
    const state = await first.rpc('lab.record_traffic', { running: false })
    expect(state).toMatchObject({ running: false, calls: 8 })
    const { text: recorded } = await first.rpc('lab.traffic_file', {})
    expect(recorded).not.toMatch(/hunter2|demo_secret|demo_access/)
    expect(recorded).not.toContain(client.token)
    await writeFile(file, recorded)
  })

  afterAll(async () => {
    await Promise.all([first.remove(), second.remove(), rm(folder, { recursive: true })])
  })

  async function replay(...words: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
    return await replayOf(file, ...words)
  }

  async function replayOf(recording: string, ...words: string[]) {
    const { media, device } = second.ready
    const keys = ['--access-key=demo_access', '--secret-key=demo_secret']
    const flags = [`--against=${media}`, `--device=${device}`, ...keys, ...words]
    const child = spawn(process.execPath, [built('server/headless.js'), 'replay', recording, ...flags])
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    return { code, stdout, stderr }
  }

  test('a server with the same rules answers alike, although its ids and tokens differ; calls share connections', async () => {
    const { access_key } = credential
    await second.rpc('clients.watch', { access_key, running: true })
    const { code, stdout, stderr } = await replay('--pace=fast')
    expect([stderr, stdout]).toEqual(['', expect.stringMatching(/^8 calls in [\d.]+ s: 8 answered as recorded\.\n$/)])
    expect(code).toBe(0)
    const { checks } = await second.rpc('clients.checks', { access_key })
    expect(checks.find(({ id }) => id === 'reusesConnections')).toMatchObject({ right: 1, wrong: 0 })
  })

  test('an answer that differs is named, also in the reports as JSON and JUnit XML', async () => {
    await second.rpc('lab.set_faults', { rules: [{ operation: 'get_room', ret: 404, times: 1 }] })
    const report = join(folder, 'report.json')
    const junit = join(folder, 'report.xml')
    const { code, stdout } = await replay('--pace=fast', `--json=${report}`, `--junit=${junit}`)
    expect(stdout).toContain('7 answered as recorded, 1 answered differently.')
    expect(stdout).toContain('#3 get_room at')
    expect(stdout).toContain('ret 0 was recorded, 404 came')
    expect(code).toBe(1)
    expect(JSON.parse(await readFile(report, 'utf8'))).toMatchObject({
      calls: 8,
      alike: 7,
      differing: [{ number: 3, operation: 'get_room', recorded_ret: 0, ret: 404 }],
    })
    const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '' })
    const { testsuites } = parser.parse(await readFile(junit, 'utf8')) as {
      testsuites: { testsuite: { name: string; testcase: unknown }[] }
    }
    expect(testsuites).toMatchObject({ name: 'replay', tests: '8', failures: '1', errors: '0', skipped: '0' })
    expect(testsuites.testsuite.find(({ name }) => name === 'get_room')?.testcase).toContainEqual(
      expect.objectContaining({
        name: expect.stringMatching(/^#3 get_room at [\d.]+ s$/),
        failure: expect.objectContaining({ message: 'ret 0 was recorded, 404 came' }),
      }),
    )
  })

  test('a server that takes another form of digests answers alike', async () => {
    await second.rpc('settings.set', { access: { digest_forms: ['sha256-raw'] } })
    const { code, stdout } = await replay('--pace=fast')
    await second.rpc('settings.set', { access: { digest_forms: ['sha1-hex'] } })
    expect([code, stdout]).toEqual([0, expect.stringContaining('8 answered as recorded.')])
  })

  test('a client that exchanges its key pair for a token gets one of the other server', async () => {
    const exchange = (on: boolean) => ({ compatibility: { older_clients: on, get_access_token: on } })
    for (const server of [first, second]) await server.rpc('settings.set', exchange(true))
    const token = async (secretKey: string): Promise<string> => {
      const query = new URLSearchParams({ accessKey: credential.access_key, secretKey })
      const answer = await fetch(`${first.ready.device}/avd/api/admin/getAccessToken?${query.toString()}`)
      const { data } = (await answer.json()) as { data?: { accessToken: string } }
      return data?.accessToken ?? ''
    }
    await first.rpc('lab.record_traffic', { running: true })
    expect(await token('not-the-secret')).toBe('')
    const query = new URLSearchParams({ accessToken: await token(credential.secret_key) })
    await fetch(`${first.ready.device}/avd/api/outgoing/getOutgoingUsers?${query.toString()}`)
    await first.rpc('lab.record_traffic', { running: false })
    const { text: recorded } = await first.rpc('lab.traffic_file', {})
    expect(recorded).not.toMatch(/not-the-secret|demo_secret/)
    const exchanged = join(folder, 'exchanged.ndjson')
    await writeFile(exchanged, recorded)
    const { stdout } = await replayOf(exchanged, '--pace=fast')
    expect(stdout).toContain('3 answered as recorded.')
    for (const server of [first, second]) await server.rpc('settings.set', exchange(false))
  })

  test('wrong arguments, a wrong file and a silent server give one sentence each', async () => {
    expect(await replay('--pace=0')).toMatchObject({ code: 2, stderr: expect.stringContaining('--pace must be') })
    expect(await replay('--against=ftp://x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--against must be'),
    })
    const silent = await replay('--against=http://127.0.0.1:1', '--device=http://127.0.0.1:1', '--pace=fast')
    expect(silent.stdout).toContain('8 not answered')
    expect(silent.code).toBe(2)
  })
})
