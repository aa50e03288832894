import { once } from 'node:events'
import http from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { consoleRoutes, type ConsoleRoute } from '../../../shared/authorization/console-routes.ts'
import { splitRoute } from '../../../shared/authorization/route.ts'
import { type ProcedureName, procedures } from '../../../shared/console/contract.ts'
import { atLeast, type Role, roleNames } from '../../../shared/domain/roles.ts'
import { scopesOfRole } from '../../../shared/console/procedure-facts.ts'
import { type TokenScope, tokenScopes } from '../../../shared/domain/token-scopes.ts'
import { type ControllerSite, openControllerSite } from '../../support/sites/controller-site.ts'
import { bothHalves } from '../../support/page-session.ts'

const names = Object.keys(procedures) as ProcedureName[]
const minute = 60_000

/** A caller, identified by credentials. */
interface Caller {
  who: string
  headers: Record<string, string>
  /** Undefined: no valid credentials. */
  role?: Role
  /** Scopes of an access token. */
  scopes?: readonly TokenScope[]
}

let site: ControllerSite
let late = 0
const callers: Caller[] = []

beforeAll(async () => {
  site = await openControllerSite(undefined, { accountClock: () => Date.now() + late })
  const key = await site.key()
  const ids = new Map<Role, string>()
  for (const role of roleNames) ids.set(role, (await site.create(role, role)).id)
  const stale = await site.signIn('admin')
  const ended = await site.signIn('admin')
  late = 11 * minute
  for (const role of roleNames) callers.push({ who: role, headers: bothHalves(await site.signIn(role)), role })
  callers.push({ who: 'admin who gave the password 11 minutes ago', headers: bothHalves(stale), role: 'admin' })
  callers.push({ who: 'console key', headers: { authorization: `Bearer ${key}` }, role: 'admin' })
  const token = async (role: Role, scopes: readonly TokenScope[]): Promise<Caller> => {
    const input = { id: ids.get(role) ?? '', label: `${role} ${scopes[0] ?? ''}`, scopes: [...scopes] }
    const made = await site.call(key, 'accounts.create_token', input)
    return {
      who: `token of ${role} for ${scopes.join(', ')}`,
      headers: { authorization: `Bearer ${made.token}` },
      role,
      scopes,
    }
  }
  for (const scope of tokenScopes) callers.push(await token('admin', [scope]))
  for (const role of roleNames) callers.push(await token(role, scopesOfRole(role)))
  await fetch(`${site.url}/session`, { method: 'DELETE', headers: bothHalves(ended) })
  callers.push(
    { who: 'nobody', headers: {} },
    { who: 'ended session', headers: bothHalves(ended) },
    { who: 'made-up session', headers: { cookie: 'roomdesk_session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' } },
    {
      who: 'made-up proof of a replica',
      headers: { 'roomdesk-caller': madeUpProof(), 'roomdesk-client': madeUpProof() },
    },
  )
})
afterAll(async () => {
  connections.destroy()
  await site.remove()
})

/** Kept ones: thousands of calls with `fetch` take thrice as long. */
const connections = new http.Agent({ keepAlive: true })

/** Calls a procedure with invalid input. @returns the HTTP status */
async function statusOf(name: ProcedureName, caller: Caller): Promise<number | undefined> {
  const body = '{"nonsense":true}'
  const headers = { ...caller.headers, 'content-type': 'application/json', 'content-length': body.length }
  const sent = http.request(`${site.url}/rpc/${name}`, { method: 'POST', headers, agent: connections })
  sent.end(body)
  const [answer] = (await once(sent, 'response')) as [http.IncomingMessage]
  answer.resume()
  await once(answer, 'end')
  return answer.statusCode
}

/** Makes the proof of a replica without the site's key. */
function madeUpProof(): string {
  const caller = Buffer.from(JSON.stringify({ role: 'admin', way: 'key' })).toString('base64url')
  return `${caller} ${Math.floor(Date.now() / 300_000)} ${'A'.repeat(43)}`
}

/** Looks up the HTTP status for a call with invalid input: the role is checked before the input. */
function expectedStatus(name: ProcedureName, { role, scopes }: Caller): 400 | 401 | 403 {
  if (role === undefined) return 401
  const access = procedures[name].access
  if (!atLeast(role, access.role)) return 403
  if (scopes === undefined || access.scope === 'any') return 400
  return access.scope !== 'none' && scopes.includes(access.scope) ? 400 : 403
}

describe('Every procedure of the console', () => {
  test('admits exactly the callers of its entry in the table over /rpc', async () => {
    const wrong: string[] = []
    for (const name of names) {
      await Promise.all(
        callers.map(async (caller) => {
          const status = await statusOf(name, caller)
          const expected = expectedStatus(name, caller)
          if (status !== expected) wrong.push(`${name}, ${caller.who}: ${status} instead of ${expected}`)
        }),
      )
    }
    expect(wrong).toEqual([])
    expect(names.length * callers.length).toBeGreaterThan(3_000)
  })

  test('admits the same callers over the WebSocket', async () => {
    const wrong: string[] = []
    for (const caller of callers.filter(({ role, headers }) => role !== undefined && 'cookie' in headers)) {
      const socket = await site.connect(caller.headers.cookie ?? '')
      const codes = new Map<number, string>()
      const all = new Promise<void>((resolve) => {
        socket.on('message', (data: Buffer) => {
          const { id, result } = JSON.parse(data.toString()) as { id?: number; result?: { error: { code: string } } }
          if (id !== undefined) codes.set(id, result?.error.code ?? '')
          if (codes.size === names.length) resolve()
        })
      })
      for (const [id, procedure] of names.entries())
        socket.send(JSON.stringify({ id, procedure, input: { nonsense: true } }))
      await all
      for (const [id, name] of names.entries()) {
        const expected = expectedStatus(name, caller) === 400 ? 'invalid' : 'forbidden'
        if (codes.get(id) !== expected) wrong.push(`${name}, ${caller.who}: ${codes.get(id)} instead of ${expected}`)
      }
      socket.terminate()
    }
    expect(wrong).toEqual([])
  })
})

describe('Every route of the console port', () => {
  const routes = Object.keys(consoleRoutes).filter((route) => route !== 'DELETE /session') as ConsoleRoute[]

  test.each(routes)('%s admits the callers of its entry in the table', async (route) => {
    const right = consoleRoutes[route]
    const { method, path } = splitRoute(route)
    const place = path.replace(':procedure', 'account.me').replace('*', '')
    for (const { who, headers, role, scopes } of callers) {
      if (right === 'session') {
        const opened = await opens(`${site.url.replace('http', 'ws')}${path}`, headers)
        expect([who, opened]).toEqual([who, role !== undefined && 'cookie' in headers])
        continue
      }
      const body =
        method === 'POST' ? { body: '{}', headers: { ...headers, 'content-type': 'application/json' } } : { headers }
      const answer = await fetch(`${site.url}${place}`, { method, ...body })
      await answer.arrayBuffer()
      // None of these callers is another controller of the site.
      if (right === 'controller') expect([who, answer.status]).toEqual([who, 404])
      else if (right === 'caller') expect([who, answer.status === 401]).toEqual([who, role === undefined])
      else if (route === 'GET /session')
        expect([who, answer.status]).toEqual([who, sessionStatus(role, scopes, headers)])
      else expect([who, answer.status]).not.toEqual([who, 401])
      if (right === 'anyone') expect([who, answer.status]).not.toEqual([who, 403])
    }
  })

  test('GET /metrics requires credentials once the settings say so', async () => {
    const status = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`${site.url}/metrics`, { headers })).status
    await site.call(await site.key(), 'settings.set', { console: { metrics_token: true } })
    for (const { who, headers, role } of callers)
      expect([who, await status(headers)]).toEqual([who, role === undefined ? 401 : 200])
    await site.call(await site.key(), 'settings.set', { console: { metrics_token: false } })
    expect(await status({})).toBe(200)
  })

  test('A page of another origin can read only the health, with any cookie', async () => {
    const headers = { ...callers[2]?.headers, origin: 'https://other.example' }
    for (const route of routes) {
      const { method, path } = splitRoute(route)
      if (consoleRoutes[route] === 'session') {
        expect(await opens(`${site.url.replace('http', 'ws')}${path}`, headers)).toBe(false)
        continue
      }
      const answer = await fetch(`${site.url}${path.replace(':procedure', 'account.me')}`, { method, headers })
      expect([route, answer.status === 403]).toEqual([route, route !== 'GET /healthz'])
    }
  })
})

/** `GET /session` reports a browser session; a token is none. */
function sessionStatus(role: Role | undefined, _scopes: unknown, headers: Record<string, string>): number {
  return role !== undefined && 'cookie' in headers ? 204 : 401
}

/** Tells whether a WebSocket opens. */
async function opens(url: string, headers: Record<string, string>): Promise<boolean> {
  const socket = new WebSocket(url, { headers: { origin: site.url, ...headers } })
  socket.on('error', () => {})
  const opened = await Promise.race([
    once(socket, 'open').then(() => true),
    once(socket, 'close').then(() => false),
  ]).catch(() => false)
  socket.terminate()
  return opened
}
