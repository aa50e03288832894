import { once } from 'node:events'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { ApiClient } from '../../support/api-client.ts'
import { startHeadless } from '../../support/headless.ts'
import { begunCookie, bothHalves } from '../../support/page-session.ts'
import { shared } from '../../support/fixtures.ts'

const credential = { label: 'Console', access_key: 'console', secret_key: 'console-secret', p2p: true }
const site = { credentials: [credential], nodes: [{ name: 'lab', kind: 'simulated' }] }

/** Sends a request whose Host header may be forged, which fetch does not allow. Resolves to status and body. */
function ask(
  url: string,
  headers: Record<string, string>,
  method = 'GET',
  body = '',
): Promise<{ status: number; body: string; headers: NodeJS.Dict<string | string[]> }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

describe('The console port', () => {
  const server = shared(() => startHeadless({ site }))
  const key = shared(async () => (await readFile(join(server().folder, 'console.key'), 'utf8')).trim())

  /** A browser's session cookie. */
  async function signIn(): Promise<string> {
    const response = await fetch(`${server().ready.console}/session`, {
      method: 'POST',
      body: JSON.stringify({ key: key() }),
    })
    expect(response.status).toBe(204)
    const cookie = response.headers.get('set-cookie') ?? ''
    expect(cookie).toContain('HttpOnly')
    expect(cookie).toContain('SameSite=Strict')
    return begunCookie(response.headers)
  }

  test('The key is one line that only its owner can read', async () => {
    expect(await readFile(join(server().folder, 'console.key'), 'utf8')).toMatch(/^[\w-]{43}\n$/)
    expect((await stat(join(server().folder, 'console.key'))).mode & 0o777).toBe(0o600)
  })

  test('A request with Expect: 100-continue is continued only if it has the key, or if the body carries it', async () => {
    /** Returns the interim response and the status of the answer. */
    const begin = async (path: string, headers: Record<string, string>, length: number): Promise<string[]> => {
      const sent = request(`${server().ready.console}${path}`, {
        method: 'POST',
        headers: { expect: '100-continue', 'content-length': length, ...headers },
      })
      const heard: string[] = []
      const body = JSON.stringify(path === '/session' ? { key: key() } : {})
      sent.on('continue', () => {
        heard.push('100')
        sent.end(body.padEnd(length))
      })
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      response.resume()
      heard.push(String(response.statusCode))
      sent.destroy()
      return heard
    }
    const shown = { authorization: `Bearer ${key()}` }
    expect(await begin('/rpc/rooms.list', {}, 1_000)).toEqual(['401'])
    expect(await begin('/rpc/rooms.list', { authorization: 'Bearer wrong' }, 1_000)).toEqual(['401'])
    expect(await begin('/rpc/rooms.list', { ...shown, host: 'evil.example' }, 1_000)).toEqual(['403'])
    expect(await begin('/rpc/rooms.list', shown, 9 * 1024 * 1024)).toEqual(['400'])
    expect(await begin('/session', {}, 5_000)).toEqual(['400'])
    expect(await begin('/rpc/rooms.list', shown, 1_000)).toEqual(['100', '200'])
    expect(await begin('/rpc/rooms.list', bothHalves(await signIn()), 1_000)).toEqual(['100', '200'])
    expect(await begin('/session', {}, 100)).toEqual(['100', '204'])
  })

  test('A script lists every procedure with JSON Schema, and needs the key for it', async () => {
    const listed = await fetch(`${server().ready.console}/rpc`, { headers: { authorization: `Bearer ${key()}` } })
    const { procedures } = (await listed.json()) as { procedures: { name: string; input: object; output: object }[] }
    expect(procedures.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['rooms.create', 'nodes.drain', 'lab.join', 'settings.set']),
    )
    for (const { input, output } of procedures) {
      expect(input).toHaveProperty('$schema')
      expect(output).toHaveProperty('$schema')
    }
    expect((await fetch(`${server().ready.console}/rpc`)).status).toBe(401)
    expect((await fetch(`${server().ready.console}/rpc/rooms.list`, { method: 'POST' })).status).toBe(401)
  })

  test('A refusal names the invalid field and how to correct it', async () => {
    expect(await server().result('rooms.create', { topic: '' })).toMatchObject({
      ok: false,
      error: { code: 'invalid', problems: [{ path: 'topic' }] },
    })
    expect(await server().result('rooms.get', { room_id: 'nobody' })).toEqual({
      ok: false,
      error: { code: 'notFound', name: 'roomNotFound', values: {}, message: 'There is no such room.' },
    })
    const unknown = await ask(
      `${server().ready.console}/rpc/__proto__`,
      { authorization: `Bearer ${key()}` },
      'POST',
      '{}',
    )
    expect(unknown.status).toBe(404)
    const broken = await ask(
      `${server().ready.console}/rpc/rooms.list`,
      { authorization: `Bearer ${key()}` },
      'POST',
      '{"a":',
    )
    expect([broken.status, JSON.parse(broken.body)]).toEqual([
      400,
      { ok: false, error: { code: 'invalid', name: 'bodyNotJson', values: {}, message: 'The body is not JSON.' } },
    ])
  })

  test('A browser exchanges the key for a session, uses a WebSocket and is notified at once of a room that a client created', async () => {
    const cookie = await signIn()
    const socket = new WebSocket(`${server().ready.console.replace('http', 'ws')}/ws`, {
      headers: { ...bothHalves(cookie), origin: server().ready.console },
    })
    const messages: Record<string, unknown>[] = []
    const heard = new Promise<string[]>((resolve) => {
      socket.on('message', (data: Buffer) => {
        const message = JSON.parse(data.toString()) as Record<string, unknown>
        messages.push(message)
        if (message.event === 'rooms.changed') resolve((message.payload as { room_ids: string[] }).room_ids)
      })
    })
    await once(socket, 'open')
    socket.send(JSON.stringify({ id: 7, procedure: 'credentials.list' }))
    await expect
      .poll(() => messages.find(({ id }) => id === 7))
      .toMatchObject({ result: { ok: true, value: [{ access_key: 'console' }] } })
    expect(JSON.stringify(messages)).not.toContain('console-secret')
    const api = new ApiClient(server().ready, credential)
    await api.authenticate()
    const room = await api.createRoom()
    expect(await heard).toContain(room)
    socket.close()
  })

  test('A WebSocket without a session, or from another origin, is refused', async () => {
    const cookie = await signIn()
    const url = `${server().ready.console.replace('http', 'ws')}/ws`
    for (const headers of [
      {},
      { cookie: 'roomdesk_session=9999999999999.a.b' },
      { ...bothHalves(cookie), origin: 'http://evil.example' },
    ]) {
      const socket = new WebSocket(url, { headers })
      const [error] = (await once(socket, 'error')) as [Error]
      expect(error.message).toContain('401')
    }
  })

  test('A foreign host name that resolves to this machine (DNS rebinding) is refused, even with a valid key', async () => {
    const headers = { host: 'evil.example:7083', authorization: `Bearer ${key()}` }
    expect((await ask(`${server().ready.console}/rpc/credentials.list`, headers, 'POST', '{}')).status).toBe(403)
    expect((await ask(`${server().ready.console}/`, { host: 'evil.example' })).status).toBe(403)
    const foreign = { authorization: `Bearer ${key()}`, origin: 'http://evil.example' }
    expect((await ask(`${server().ready.console}/rpc/credentials.list`, foreign, 'POST', '{}')).status).toBe(403)
  })

  test('The page has a strict content security policy, and no path leaves its folder', async () => {
    const page = await ask(`${server().ready.console}/`, {})
    expect(page.status).toBe(200)
    expect(page.headers['content-security-policy']).toContain("default-src 'self'")
    expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'")
    for (const path of [
      '/../server/headless.js',
      '/..%2fserver%2fheadless.js',
      '/%2e%2e/%2e%2e/package.json',
      '/assets/%00.js',
    ]) {
      expect((await ask(`${server().ready.console}${path}`, {})).status).toBe(404)
    }
  })

  test('/healthz and /metrics answer on the console port only', async () => {
    const health = await fetch(`${server().ready.console}/healthz`)
    expect([health.status, await health.json()]).toEqual([200, expect.objectContaining({ ok: true, nodes_online: 1 })])
    // Requests like those of load balancers: HTTP/1.0 without a Host, or with the public name.
    const { hostname, port } = new URL(server().ready.console)
    const balancer = connect(Number(port), hostname)
    balancer.end('GET /healthz HTTP/1.0\r\n\r\n')
    let asked = ''
    for await (const chunk of balancer) asked += String(chunk)
    expect(asked).toMatch(/^HTTP\/1\.1 200 /)
    expect((await ask(`${server().ready.console}/healthz`, { host: 'rooms.example.org' })).status).toBe(200)
    expect(await (await fetch(`${server().ready.media}/healthz`)).json()).toMatchObject({ ret: 408 })
    expect(await (await fetch(`${server().ready.device}/metrics`)).json()).toMatchObject({ ret: 401 })
    // The figures of a request appear with the first one.
    const metrics = await (await fetch(`${server().ready.console}/metrics`)).text()
    for (const name of [
      'roomdesk_requests_total',
      'roomdesk_request_seconds_bucket',
      'roomdesk_rooms',
      'roomdesk_users',
      'roomdesk_nodes',
      'roomdesk_devices',
      'roomdesk_store_flush_seconds',
      'roomdesk_store_backlog',
      'nodejs_eventloop_lag_seconds',
    ]) {
      expect(metrics).toContain(name)
    }
    expect(metrics).not.toContain('console-secret')
  })
})

test('The console key is replaced by a procedure or by hand, which ends all its sessions', async () => {
  const server = await startHeadless({ site })
  const file = join(server.folder, 'console.key')
  const old = (await readFile(file, 'utf8')).trim()
  const response = await fetch(`${server.ready.console}/session`, {
    method: 'POST',
    body: JSON.stringify({ key: old }),
  })
  const cookie = begunCookie(response.headers)
  expect((await fetch(`${server.ready.console}/session`, { headers: bothHalves(cookie) })).status).toBe(204)
  const { key } = await server.rpc('console.replace_key', {})
  expect((await readFile(file, 'utf8')).trim()).toBe(key)
  expect((await fetch(`${server.ready.console}/session`, { headers: bothHalves(cookie) })).status).toBe(401)
  await writeFile(file, `${'by-hand-'.repeat(4)}\n`, { mode: 0o600 })
  expect((await server.rpc('credentials.list', {})).length).toBe(1)
  await server.remove()
})

test('After five wrong keys a minute further ones are refused; the valid key and open sessions still work from the same address', async () => {
  const server = await startHeadless({ site })
  const offer = (key: string): Promise<Response> =>
    fetch(`${server.ready.console}/session`, { method: 'POST', body: JSON.stringify({ key }) })
  const key = (await readFile(join(server.folder, 'console.key'), 'utf8')).trim()
  const cookie = begunCookie((await offer(key)).headers)
  for (let turn = 0; turn < 5; turn++) expect((await offer('wrong')).status).toBe(401)
  const refused = await offer('wrong')
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await refused.json()).toMatchObject({ ok: false, retry_after: Number(refused.headers.get('retry-after')) })
  const bearer = { authorization: 'Bearer wrong' }
  expect((await fetch(`${server.ready.console}/rpc`, { headers: bearer })).status).toBe(429)
  expect((await offer(key)).status).toBe(204)
  expect((await fetch(`${server.ready.console}/session`, { headers: bothHalves(cookie) })).status).toBe(204)
  expect((await fetch(`${server.ready.console}/rpc`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200)
  await server.remove()
})
