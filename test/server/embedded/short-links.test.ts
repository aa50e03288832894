import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { SignalClient } from '../../support/media/signal-client.ts'
import { MediaSite } from '../../support/sites/media-site.ts'
import { shared } from '../../support/fixtures.ts'

/** A link that people read, type and scan: permanent until it is revoked or its room is gone. */
const site = shared(() => MediaSite.start())

const day = 24 * 60 * 60_000
const roomOf = async (topic: string, more: object = {}): Promise<string> =>
  (await site().rpc('rooms.create', { topic, ...more })).room_id
/** Where a browser is led. */
async function visit(url: string): Promise<{ status: number; location: string; token: string }> {
  const { status, headers } = await fetch(url, { redirect: 'manual' })
  const location = headers.get('location') ?? ''
  return { status, location, token: location.split('#token=')[1] ?? '' }
}

test('a permanent link is short, the same each time, and leads into its room until it is revoked', async () => {
  const room_id = await roomOf('Door')
  const wish = { room_id, life_ms: 0 } as const
  const link = await site().rpc('media.join_link', wish)
  expect(link).toEqual({ url: link.short_url, short_url: link.short_url, expires_at: 0 })
  const short = link.short_url.replace(site().api.media, '')
  expect(short).toMatch(/^\/j\/[a-zA-Z2-9]{4}-[a-zA-Z2-9]{4}-[a-zA-Z2-9]{4}$/)
  expect(await site().rpc('media.join_link', wish)).toEqual(link)
  expect((await site().rpc('media.join_link', { ...wish, role: 'host' })).short_url).not.toBe(link.short_url)

  const { status, location, token } = await visit(link.short_url)
  expect([status, location.split('#')[0]]).toEqual([302, `${site().nodeUrl}/room/?roomId=${room_id}`])
  const guest = await SignalClient.join(site().nodeUrl, room_id, { token, user_name: 'Guest' })
  expect(guest.joined.you).toMatchObject({ user_name: 'Guest', role: 'member' })
  guest.drop()
  // As people type it.
  expect((await visit(`${site().api.media}${short.replaceAll('-', '')}`)).status).toBe(302)
  const { items } = await site().rpc('events.list', { subject: { type: 'room', id: room_id } })
  expect(items.find(({ kind }) => kind === 'link.used')?.params).toMatchObject({ link: 'join' })

  await site().rpc('media.revoke_links', { room_id, url: link.short_url })
  expect((await visit(link.short_url)).status).toBe(404)
  await expect(SignalClient.join(site().nodeUrl, room_id, { token, user_name: 'Guest' })).rejects.toThrow('401')
  expect((await site().rpc('media.join_link', wish)).short_url).not.toBe(link.short_url)
})

test('a link ends with its room, is restored with it, and never leads into a later room of the same number', async () => {
  const room_id = await roomOf('Lab', { room_extend_id: 'lab' })
  const { short_url } = await site().rpc('media.join_link', { room_id, life_ms: 0 })
  const { undo } = await site().rpc('rooms.delete', { room_ids: [room_id] })
  expect((await visit(short_url)).status).toBe(404)
  await site().rpc('rooms.restore', { undo })
  expect((await visit(short_url)).status).toBe(302)
  await site().rpc('rooms.delete', { room_ids: [room_id] })
  await roomOf('Lab', { room_extend_id: 'lab' })
  expect((await visit(short_url)).status).toBe(404)
})

test('a removed user cannot return by opening the short link again', async () => {
  const room_id = await roomOf('Jury')
  const { short_url, expires_at } = await site().rpc('media.join_link', { room_id, user_id: 'bo', life_ms: 0 })
  expect(expires_at).toBeLessThanOrEqual(Date.now() + 30 * day)
  const bo = await SignalClient.join(site().nodeUrl, room_id, { token: (await visit(short_url)).token })
  await site().rpc('rooms.kick', { room_id, user_id: 'bo' })
  await bo.closed
  const { token } = await visit(short_url)
  await expect(SignalClient.join(site().nodeUrl, room_id, { token })).rejects.toThrow('removed')
})

test('invitations to a series last until its last meeting', async () => {
  const start = new Date(Date.now() + day).toISOString().slice(0, 16)
  const schedule = { start, minutes: 60, zone: 'UTC', rule: 'FREQ=WEEKLY;COUNT=60', overrun_minutes: 10 }
  const room_id = await roomOf('Stand-up', { schedule })
  const { url, expires_at } = await site().rpc('media.join_link', { room_id })
  expect(expires_at).toBe(Date.parse(`${start}Z`) + 59 * 7 * day + 70 * 60_000)
  expect(url).toContain('#token=')
})

test('clients of the API and hosts in a meeting get short links, too', async () => {
  const room_id = await roomOf('Board')
  const answer = await site().api.get('/rtc/room/join_url', { room_id, user_id: 'cy', user_name: 'Cy' })
  expect(answer).toMatchObject({ ret: 0, short_url: expect.stringContaining('/j/') })
  const host = await site().rpc('media.join_link', { room_id, role: 'host', user_name: 'Ann', life_ms: 0 })
  const ann = await SignalClient.join(site().nodeUrl, room_id, { token: (await visit(host.short_url)).token })
  ann.send({ type: 'invite' })
  const { url } = await ann.next('invitation')
  const guest = await SignalClient.join(site().nodeUrl, room_id, { token: (await visit(url)).token, user_name: 'Di' })
  expect(guest.joined.you).toMatchObject({ role: 'member' })
})

test('guesses are counted, and soon refused', async () => {
  const guess = (digit: number): string =>
    `${site().api.media}/j/Kx7f-9QmT-b3${(digit % 8) + 2}${(Math.floor(digit / 8) % 8) + 2}`
  // From an address of its own: the visits of other tests are not refused with it.
  const statusOf = async (url: string): Promise<number | undefined> => {
    const [answer] = (await once(http.get(url, { localAddress: '127.0.0.2' }), 'response')) as [IncomingMessage]
    answer.resume()
    return answer.statusCode
  }
  const statuses = await Promise.all(Array.from({ length: 130 }, (_, index) => statusOf(guess(index))))
  expect(new Set(statuses)).toEqual(new Set([404, 429]))
})
