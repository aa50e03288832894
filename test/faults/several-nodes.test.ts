import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePorts } from '../../server/nodes/embedded/proposed-nodes.ts'
import { isAlive, MediaSite } from '../support/sites/media-site.ts'
import { startCamera } from '../support/camera/camera.ts'
import { SignalClient } from '../support/media/signal-client.ts'

const embedded = (name: string, port: number) => ({ name, kind: 'embedded' as const, port })
const host = '127.0.0.1'
const password = { host_password: 'open sesame' }

/** Events in the life of a site with several embedded nodes; the stories follow each other. */
test('several embedded nodes: from a site file, over ports, certificates and faults, to the last one', async () => {
  await using camera = await startCamera()
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-several-'))
  const ports = await freePorts({ host, from: 30_000 + (process.pid % 2_000), count: 3, taken: [] })
  const [one = 0, two = 0, three = 0] = ports
  expect(ports).toHaveLength(3)
  const nodes = [embedded('a', 0), embedded('b', one), embedded('c', two)]
  await using site = await MediaSite.start({ folder, nodes })
  const listed = () => site.rpc('nodes.list', {})
  const state = async (name: string) => (await listed()).find(({ config }) => config.name === name)?.state
  const allOnline = () => site.until(async () => (await listed()).every((node) => node.state === 'online'))
  const pidAt = (index: number): number => site.pids[index] ?? 0
  const addressOf = async (room: string) => String((await site.api.get('/sdk/get_mcu', { room_id: room })).addr)
  await allOnline()
  expect((await listed()).map(({ config }) => config.port)).toEqual([0, one, two])

  // A room on each node.
  const rooms = await Promise.all([1, 2, 3].map(() => site.api.createRoom(password)))
  const addresses: string[] = []
  for (const room of rooms) addresses.push(await addressOf(room))
  expect(new Set(addresses).size).toBe(3)
  const roomAt = (port: number): string => rooms[addresses.indexOf(`${host}:${port}`)] ?? ''
  for (const [index, room] of rooms.entries()) {
    expect(await site.join(room, `cam-${index}`, camera.url('/cam'))).toMatchObject({ ret: 0 })
  }
  const camerasBack = () =>
    site.until(async () => (await site.rpc('devices.list', {})).every((device) => device.state === 'joined'))

  // With another port a node returns after a moment, with its cameras; the others are unaffected.
  const others = [pidAt(0), pidAt(1), pidAt(2)]
  await site.rpc('nodes.update', embedded('b', three))
  await camerasBack()
  await allOnline()
  await expect(fetch(`http://${host}:${one}/room/`)).rejects.toThrow()
  expect((await fetch(`http://${host}:${three}/room/`)).status).toBe(200)
  expect(others.filter(isAlive)).toHaveLength(2)
  expect(await site.rpc('nodes.test', embedded('b', three))).toMatchObject({ ok: true })

  // Killed while another program takes its port: reported by name, and repaired without help.
  await site.rpc('nodes.disable', { name: 'c' })
  await site.until(async () => (await fetch(`http://${host}:${two}/room/`).catch(() => undefined)) === undefined)
  const thief = createServer().listen(two, host)
  await once(thief, 'listening')
  await site.rpc('nodes.enable', { name: 'c' })
  await site.until(async () => (await state('c')) === 'offline')
  expect((await listed())[2]?.last_error).toContain(`Port ${two} on ${host} is in use by`)
  await new Promise((resolve) => thief.close(resolve))
  await site.until(async () => (await state('c')) === 'online', 40_000)
  await camerasBack()

  // With a certificate all of them speak HTTPS, and without one HTTP again.
  await site.rpc('settings.set', { tls: { mode: 'self-signed' } })
  await allOnline()
  await camerasBack()
  for (const [index, room_id] of rooms.entries()) {
    const preview = await site.rpc('media.preview_stream', { room_id, stream_id: `cam-${index}` })
    expect(preview.url).toMatch(/^https:/)
  }
  await site.rpc('settings.set', { tls: { mode: 'off' } })
  await allOnline()
  await camerasBack()
  expect((await fetch(`http://${host}:${three}/room/`)).status).toBe(200)

  // Without the first one users are redirected to the others.
  await site.rpc('nodes.remove', { name: 'a' })
  await camerasBack()
  const page = await fetch(`${site.api.media}/jroom/?roomId=${roomAt(two)}`, { redirect: 'manual' })
  expect(page.status).toBe(302)
  const origin = new URL(page.headers.get('location') ?? '').origin
  expect([`http://${host}:${three}`, `http://${host}:${two}`]).toContain(origin)
  const room = roomAt(two)
  const person = await SignalClient.join(`http://${await addressOf(room)}`, room, password)
  person.drop()

  // No process is left.
  await site.stop()
  expect(site.pids.filter(isAlive)).toEqual([])
  await rm(folder, { recursive: true, force: true })
})
