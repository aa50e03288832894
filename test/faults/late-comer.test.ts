import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { ControllersSite, credential, roleOf, type SiteController } from '../support/sites/controllers-site.ts'

async function signedIn({ headless }: SiteController): Promise<ApiClient> {
  const api = new ApiClient(headless.ready, credential)
  expect(await api.authenticate()).toMatchObject({ ret: 0 })
  return api
}

/** Starts one leader that still answers from memory while it is cut off from the database. */
async function cutOff(): Promise<{ site: ControllersSite; alone: SiteController; api: ApiClient; room: string }> {
  const site = await ControllersSite.start({ controllers: 1, proxied: true })
  onTestFinished(() => site.remove())
  const alone = await site.leader()
  const api = await signedIn(alone)
  const room = await api.createRoom()
  if (alone.proxy === undefined) throw new Error('It has no way of its own.')
  alone.proxy.closed = true
  alone.proxy.cut()
  expect(await api.get('/rtc/room/get', { room_id: room })).toMatchObject({ ret: 0 })
  return { site, alone, api, room }
}

test('A controller joins while the leader is cut off from the database: it becomes the leader, and the old one serves no stale reads', {
  timeout: 60_000,
}, async () => {
  const { site, alone, api, room } = await cutOff()
  const comer = await site.add('late')
  expect(await site.leader(alone)).toBe(comer)
  const other = await signedIn(comer)
  const since = await other.createRoom()
  // At the old leader's address, at once: a room and a token that the old leader never stored.
  expect(await api.get('/rtc/room/get', { room_id: since })).toMatchObject({ ret: 0 })
  expect(await api.get('/rtc/room/get', { room_id: since }, other.token)).toMatchObject({ ret: 0 })
  expect(await api.get('/rtc/room/get', { room_id: room })).toMatchObject({ ret: 0 })
  expect(await roleOf(alone)).toBe('standby')
  if (alone.proxy !== undefined) alone.proxy.closed = false
  await expect.poll(() => roleOf(alone)).toBe('standby')
})

test('A controller joins after the leader has ended: it leads', { timeout: 60_000 }, async () => {
  const site = await ControllersSite.start({ controllers: 1 })
  onTestFinished(() => site.remove())
  const first = await site.leader()
  const api = await signedIn(first)
  const room = await api.createRoom()
  await site.kill(first)
  const comer = await site.add('late')
  expect(await site.leader(first)).toBe(comer)
  const next = await signedIn(comer)
  expect(await next.get('/rtc/room/get', { room_id: room })).toMatchObject({ ret: 0 })
})

test('Only a controller of the site can announce itself', { timeout: 60_000 }, async () => {
  const site = await ControllersSite.start({ controllers: 1 })
  onTestFinished(() => site.remove())
  const { headless } = await site.leader()
  const place = { media: '', device: '', node: '', console: 'http://127.0.0.1:9', event: '', certificate: '' }
  const body = JSON.stringify({ id: 'another', name: 'another', version: '1', place })
  const key = (await readFile(join(headless.folder, 'console.key'), 'utf8')).trim()
  for (const headers of [{}, { authorization: `Bearer ${key}` }, { 'roomdesk-caller': 'e30 1 forged' }]) {
    const response = await fetch(`${headless.ready.console}/controllers`, { method: 'POST', headers, body })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ ok: false })
  }
})
