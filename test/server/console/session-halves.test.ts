import { WebSocket } from 'ws'
import { describe, expect, test } from 'vitest'
import { offeredSubprotocols, pageHalfHeader } from '../../../shared/console/session-halves.ts'
import { bothHalves, begunCookie, halfOf } from '../../support/page-session.ts'
import { openControllerSite } from '../../support/sites/controller-site.ts'
import { shared } from '../../support/fixtures.ts'

/** Paths that a session opens, with what each answers to one: 404 for what does not exist. */
const paths: readonly (readonly [method: string, path: string, status: number])[] = [
  ['GET', '/session', 204],
  ['GET', '/rpc', 200],
  ['POST', '/rpc/account.me', 200],
  ['POST', '/rpc/credentials.reveal', 404],
  ['POST', '/tickets', 400],
  ['GET', '/recordings/segments/1', 404],
  ['GET', '/recordings/segments/1/picture?at=0', 404],
  ['GET', '/recordings/exports/none', 404],
]

describe.each(['password', 'key'] as const)(
  'A session by %s, whose cookie another web server of the host received',
  (way) => {
    const site = shared(async () => {
      const site = await openControllerSite({ credentials: [{ access_key: 'lobby', secret_key: 'the secret' }] })
      await site.create('root', 'admin')
      return site
    })
    const cookie = shared(async () =>
      way === 'password'
        ? await site().signIn('root')
        : begunCookie((await site().offer({ key: await site().key() })).headers),
    )

    const status = async (method: string, path: string, headers: Record<string, string>): Promise<number> => {
      const body = path.endsWith('reveal') ? { access_key: 'none' } : {}
      return (await site().ask(method, path, { headers, ...(method === 'GET' ? {} : { body }) })).status
    }

    test.each(paths)('%s %s', async (method, path, opened) => {
      expect(await status(method, path, bothHalves(cookie()))).toBe(opened)
      const other = await site().signIn('root')
      for (const half of [undefined, '', 'A'.repeat(43), halfOf(other)]) {
        const headers = half === undefined ? { cookie: cookie() } : { cookie: cookie(), [pageHalfHeader]: half }
        expect([half, await status(method, path, headers)]).toEqual([half, 401])
      }
      // The page's half opens nothing without the cookie, either.
      expect(await status(method, path, { [pageHalfHeader]: halfOf(cookie()) })).toBe(401)
    })

    test('The WebSocket takes the half as a subprotocol, and does not repeat it', async () => {
      const open = async (protocols: string[]): Promise<string> => {
        const socket = new WebSocket(`${site().url.replace('http', 'ws')}/ws`, protocols, {
          headers: { cookie: cookie(), origin: site().url },
        })
        const { promise, resolve } = Promise.withResolvers<string>()
        socket.on('open', () => resolve(socket.protocol))
        socket.on('error', () => resolve('refused'))
        const outcome = await promise
        socket.terminate()
        return outcome
      }
      expect(await open(offeredSubprotocols(halfOf(cookie())))).toBe('roomdesk.console')
      expect(await open(offeredSubprotocols(''))).toBe('refused')
      expect(await open(offeredSubprotocols('A'.repeat(43)))).toBe('refused')
      expect(await open([])).toBe('refused')
    })

    test('A ticket opens one download together with its cookie, and nothing else', async () => {
      const path = '/recordings/exports/none'
      const issued = await site().ask('POST', '/tickets', { headers: bothHalves(cookie()), body: { path } })
      const { url } = issued.body as { url: string }
      expect(await status('GET', url, { cookie: cookie() })).toBe(404)
      expect(await status('GET', url, {})).toBe(401)
      expect(await status('GET', url, { cookie: await site().signIn('root') })).toBe(401)
      const query = url.slice(url.indexOf('?'))
      for (const other of ['/recordings/exports/other', '/recordings/segments/1', '/rpc', '/session'])
        expect([other, await status('GET', `${other}${query}`, { cookie: cookie() })]).toEqual([other, 401])
      expect(await status('POST', `/rpc/account.me${query}`, { cookie: cookie() })).toBe(401)
      const later = url.replace(/ticket=\d/, 'ticket=9')
      expect(await status('GET', later, { cookie: cookie() })).toBe(401)
      for (const refused of ['/rpc', '/recordings/segments/1', '/recordings/exports/../segments/1'])
        expect(
          (await site().ask('POST', '/tickets', { headers: bothHalves(cookie()), body: { path: refused } })).status,
        ).toBe(400)
    })
  },
)
