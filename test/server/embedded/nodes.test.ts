import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { startTestCamera } from '../../support/camera/test-camera.ts'
import { SignalClient } from '../../support/media/signal-client.ts'
import { isAlive, MediaSite } from '../../support/sites/media-site.ts'

// Most of the time passes in starts of processes.
vi.setConfig({ maxConcurrency: 3, testTimeout: 60_000 })

const embedded = (name: string) => ({ name, kind: 'embedded' as const })

test.concurrent('one embedded node uses the node port: a second one without a port of its own is refused, by the console and by a site file', async () => {
  await using site = await MediaSite.start()
  await expect(site.rpc('nodes.add', embedded('second'))).rejects.toThrow('port of its own')
  await expect(site.rpc('nodes.test', embedded('second'))).rejects.toThrow('port of its own')
  expect(await site.rpc('nodes.test', embedded('here'))).toMatchObject({ ok: true })
  expect(await site.rpc('nodes.list', {})).toMatchObject([{ config: { name: 'here' }, state: 'online' }])
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-two-'))
  const two = MediaSite.start({ folder, nodes: [embedded('one'), embedded('two')] })
  await expect(two).rejects.toThrow('$.nodes[0].port')
  await rm(folder, { recursive: true })
})

test.concurrent('a disabled node stops; enabled again it returns with its cameras; a removed one is gone, and another can be added', async () => {
  await using camera = await startTestCamera()
  // The test of a node starts a process for it.
  await using site = await MediaSite.start({ settings: { deadlines: { health_ms: 10_000 } } })
  const room = await site.api.createRoom()
  expect(await site.join(room, 'door', camera.url)).toMatchObject({ ret: 0 })
  const url = site.nodeUrl
  const first = site.pid
  await site.rpc('nodes.disable', { name: 'here' })
  await site.until(() => !isAlive(first) && site.nodeUrl === '')
  expect(await site.device('door')).toMatchObject({ state: 'waiting' })
  await site.rpc('nodes.enable', { name: 'here' })
  await site.until(async () => (await site.device('door')).state === 'joined')
  expect(site.nodeUrl).not.toBe('')
  expect(url).not.toBe('')
  await site.rpc('nodes.remove', { name: 'here' })
  await site.until(() => !isAlive(site.pid))
  await expect(site.rpc('media.join_link', { room_id: room })).rejects.toThrow('no node that shows the room page')
  expect(await site.rpc('nodes.test', embedded('other'))).toMatchObject({ ok: true })
  expect(await site.rpc('nodes.list', {})).toEqual([])
  await site.rpc('nodes.add', embedded('other'))
  await site.until(async () => (await site.device('door')).state === 'joined')
  expect(await site.users(room)).toEqual(['door'])
})

test.concurrent('a site with only simulated nodes shows a notice on the node port, until it gets an embedded one', async () => {
  await using site = await MediaSite.start({ nodes: [{ name: 'lab', kind: 'simulated' }] })
  expect(site.pids).toEqual([])
  expect(await (await fetch(site.nodeUrl)).json()).toMatchObject({ simulated: true })
  const room = await site.api.createRoom()
  const page = await fetch(`${site.api.media}/jroom/?roomId=${room}`, { headers: { 'accept-language': 'zh-CN' } })
  expect(page.status).toBe(503)
  expect(await page.text()).toContain('暂时')
  await site.rpc('nodes.add', embedded('here'))
  await site.until(async () => (await site.rpc('nodes.list', {})).every(({ state }) => state === 'online'))
  expect((await fetch(`${site.nodeUrl}/room/`)).status).toBe(200)
  await site.rpc('nodes.remove', { name: 'here' })
  await site.until(async () => {
    const answer = await fetch(site.nodeUrl).catch(() => undefined)
    return answer?.status === 501
  })
})

test.concurrent('another UDP port restarts the node at once; cameras and addresses stay', async () => {
  await using camera = await startTestCamera()
  await using site = await MediaSite.start()
  const room = await site.api.createRoom()
  expect(await site.join(room, 'door', camera.url)).toMatchObject({ ret: 0 })
  const url = site.nodeUrl
  const { pid } = site
  await site.rpc('settings.set', { media: { udp_port: 40_000 + (process.pid % 10_000) } })
  await site.until(async () => site.pid !== pid && (await site.device('door')).state === 'joined')
  expect(site.nodeUrl).toBe(url)
  expect(site.logged.join('')).not.toContain('does not run')
})

test.concurrent('a node port in use is reported before anything changes', async () => {
  await using site = await MediaSite.start()
  const room = await site.api.createRoom({ host_password: 'open sesame' })
  await site.api.get('/sdk/get_mcu', { room_id: room })
  await using other = await MediaSite.start()
  const taken = Number(new URL(other.nodeUrl).port)
  const check = await site.rpc('settings.check', { listeners: { node_port: taken } })
  expect(check).toMatchObject({ ok: false, problems: [{ path: 'listeners.node_port' }] })
  const person = await SignalClient.join(site.nodeUrl, room, { host_password: 'open sesame' })
  expect(person.joined.you.role).toBe('host')
  person.drop()
})

test.concurrent('with a certificate the node uses HTTPS from then on, and clients are redirected there', async () => {
  await using site = await MediaSite.start()
  const room = await site.api.createRoom()
  await site.rpc('settings.set', { tls: { mode: 'self-signed' } })
  expect(site.nodeUrl).toMatch(/^https:/)
  const { status, location } = await redirectOf(`${site.controller.listeners.url('media')}/jroom/?roomId=${room}`)
  expect(status).toBe(302)
  expect(location).toBe(`${site.nodeUrl}/room/?roomId=${room}`)
  expect((await redirectOf(location)).status).toBe(200)
  expect((await site.rpc('media.join_link', { room_id: room })).url).toMatch(/^https:/)
})

/** Sends a request without verifying the certificate or following redirects. */
async function redirectOf(url: string): Promise<{ status: number; location: string }> {
  const request = https.get(url, { rejectUnauthorized: false, agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.resume()
  return { status: response.statusCode ?? 0, location: response.headers.location ?? '' }
}
