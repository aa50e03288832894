import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { removeFolder, startHeadless } from '../support/headless.ts'
import { PostgresServer } from '../support/postgres/postgres-server.ts'
import { RoomSite } from '../support/sites/room-site.ts'

const patience = { timeout: 60_000 }

test('a room deleted in the middle of a meeting is restored: people join by the same link and see its camera', async () => {
  await using site = await RoomSite.start()
  const room = await site.room({ topic: 'Control room' })
  await site.camera(room, 'gate', 'North gate')
  const link = await site.link(room, { user_id: 'ann', user_name: 'Ann', role: 'host' })
  const ann = await site.join(link)
  await ann.sees('North gate')
  const { undo } = await site.controller.rpc('rooms.delete', { room_ids: [room] })
  await ann.page.getByRole('toolbar').waitFor({ state: 'detached' })
  await ann.close()
  expect(await site.controller.rpc('rooms.restore', { undo })).toMatchObject({ done: 1, failed: [] })
  const again = await site.join(link)
  const bo = await site.join(await site.link(room), { name: 'Bo' })
  await Promise.all([again.sees('North gate'), again.sees('Bo'), bo.sees('North gate'), bo.sees('Ann')])
  expect(await site.controller.rpc('rooms.get', { room_id: room })).toMatchObject({
    room: { topic: 'Control room', people: 2, devices: 1 },
  })
})

test('a room deleted on one controller is restored on its successor', async () => {
  const server = await PostgresServer.start()
  const keyFolder = await mkdtemp(join(tmpdir(), 'roomdesk-key-'))
  const flags = ['--store', server.address(await server.newSchema()), '--seal-key', join(keyFolder, 'site.key')]
  const site = { nodes: [{ name: 'lab', kind: 'simulated' }] }
  const one = await startHeadless({ site, flags: [...flags, '--controller-name', 'one'] })
  const two = await startHeadless({ site, flags: [...flags, '--controller-name', 'two'] })
  onTestFinished(async () => {
    for (const controller of [one, two]) await controller.remove('SIGKILL')
    await server.remove()
    await removeFolder(keyFolder)
  })
  const { room_id } = await one.rpc('rooms.create', { topic: 'Control room', attendee_max: 17, tags: ['North'] })
  const camera = { roomId: room_id, userId: 'gate', userName: 'North gate', userAddress: 'rtsp://10.0.0.9/gate' }
  await one.rpc('devices.create', camera)
  const { undo } = await one.rpc('rooms.delete', { room_ids: [room_id] })
  await one.stop('SIGKILL')
  await expect.poll(async () => (await fetch(`${two.ready.console}/healthz`)).status, patience).toBe(200)
  const { items } = await two.rpc('trash.list', {})
  expect(items).toMatchObject([{ kind: 'rooms', key: room_id, cameras: 1 }])
  expect(await two.rpc('rooms.restore', { undo })).toMatchObject({ done: 1, failed: [] })
  expect((await two.rpc('rooms.get', { room_id })).room).toMatchObject({ attendee_max: 17, tags: ['North'] })
  expect(await two.rpc('devices.list', undefined)).toMatchObject([{ userId: 'gate', roomId: room_id }])
})
