import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import type { ConsoleEvent } from '../../../shared/console/contract.ts'
import { asOwnProbe } from '../../../server/edge/own-probes.ts'
import { MediaSite } from '../../support/sites/media-site.ts'
import { shared } from '../../support/fixtures.ts'

const site = shared(() => MediaSite.start({ host: '0.0.0.0' }))

/** Opens a page from an address of this machine: 127.0.0.2 is none of its network cards, and counts as another device. */
async function visit(url: string, localAddress: string, language = 'en'): Promise<{ status: number; body: string }> {
  const { port, pathname } = new URL(url)
  const sent = http.get(`http://127.0.0.1:${port}${pathname}`, {
    localAddress,
    agent: false,
    headers: { 'accept-language': language },
  })
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode ?? 0, body: await text(response) }
}

const findingOf = async (check: 'phone' | 'ports' | 'firewall' | 'encryption') =>
  (await site().rpc('readiness.run', { checks: [check] })).results[0]?.finding

test('a script gets every check of a headless site with sentences in English, and checks that do not apply to the machine are left out', async () => {
  const { checks, machine } = await site().rpc('readiness.checks', {})
  expect(machine).not.toBe('')
  expect(checks).toEqual([
    'ports',
    'phone',
    'firewall',
    'encryption',
    'ffmpeg',
    'disk',
    'space',
    'clock',
    'cameraClocks',
    'key',
  ])
  const { results } = await site().rpc('readiness.run', {})
  expect(results.map(({ check }) => check)).toEqual(checks)
  for (const { message, took_ms } of results) {
    expect(message).toMatch(/^\S.*\.$/)
    expect(message).not.toMatch(/[{}]/)
    expect(took_ms).toBeGreaterThanOrEqual(0)
  }
})

test('the site’s own requests to its ports are not among the requests of clients, and no client can pass for one', async () => {
  const { items: before } = await site().rpc('activity.list', {})
  expect(await findingOf('ports')).not.toBe('portsSilent')
  expect((await site().rpc('activity.list', {})).items).toEqual(before)
  // A client that knows the header does not know the secret of a question under way, and one counts once.
  const ask = async (headers: Record<string, string>) =>
    (await fetch(`${site().api.media}/`, { method: 'HEAD', headers })).status
  expect(await ask({ 'roomdesk-own-probe': 'x' })).toBe(200)
  const statuses = await asOwnProbe(async (headers) => [await ask(headers), await ask(headers)])
  expect(statuses).toEqual([204, 200])
  const { items } = await site().rpc('activity.list', {})
  expect(items).toHaveLength(before.length + 2)
})

test('plain HTTP that is open to the network is found, and needs attention on the overview', async () => {
  expect(await findingOf('encryption')).toBe('encryptionOff')
  const { attention } = await site().rpc('overview.get', {})
  expect(attention).toContainEqual(expect.objectContaining({ level: 'warning', code: 'plainHttp' }))
})

test('the page shows at once when a phone has opened the address, and not when this machine did', async () => {
  const { urls, warns, arrived } = await site().rpc('readiness.phone', {})
  expect(warns).toBe(false)
  expect(arrived).toBe(null)
  const [url = ''] = urls
  expect(url).toMatch(/^http:\/\/[\d.]+:\d+\/reach\/[0-9a-f]{18}$/)
  expect(await findingOf('ports')).toBe('portsReachable')
  expect(await findingOf('phone')).toBe('phoneWaiting')

  const events: ConsoleEvent[] = []
  const stop = site().controller.hub.listen(
    (event) => void (event.name === 'readiness.phone_arrived' && events.push(event)),
  )
  expect(await visit(url, '127.0.0.1')).toMatchObject({ status: 200 })
  await expect
    .poll(() => events)
    .toEqual([{ name: 'readiness.phone_arrived', payload: expect.objectContaining({ own: true }) }])
  expect(await findingOf('phone')).toBe('phoneWaiting')

  const german = await visit(url, '127.0.0.2', 'de-AT,de;q=0.9')
  expect(german.body).toContain('Verbunden')
  await expect.poll(() => events.at(-1)?.payload).toMatchObject({ client: '127.0.0.2', own: false })
  expect(await findingOf('phone')).toBe('phoneArrived')
  expect((await site().rpc('readiness.phone', {})).arrived).toMatchObject({ client: '127.0.0.2' })
  stop()
})

test('an address of another controller, or a guess, shows the page and does not count as a visit', async () => {
  const before = (await site().rpc('readiness.phone', {})).arrived
  const { urls } = await site().rpc('readiness.phone', {})
  const guessed = (urls[0] ?? '').replace(/[0-9a-f]{18}$/, '0'.repeat(18))
  expect((await visit(guessed, '127.0.0.3')).status).toBe(200)
  const { status } = await visit((urls[0] ?? '').replace('/reach/', '/reach/%00'), '127.0.0.3')
  expect(status).toBe(200)
  expect((await site().rpc('readiness.phone', {})).arrived).toEqual(before)
})
