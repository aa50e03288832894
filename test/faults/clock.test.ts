import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { removeFolder, startHeadless } from '../support/headless.ts'

const credential = { label: 'Clock', access_key: 'clock', secret_key: 'clock-secret' }
const site = { credentials: [credential], nodes: [{ name: 'lab', kind: 'simulated' }] }
const preload = pathToFileURL(join(import.meta.dirname, 'shift-clock.mjs')).href

test('A clock that jumps back an hour ends no session, loses no room and keeps the order of backups', async () => {
  const env = { NODE_OPTIONS: `--import ${preload}` }
  const server = await startHeadless({ site, env })
  const api = new ApiClient(server.ready, credential)
  await api.authenticate()
  const before = await api.createRoom()
  const first = await server.rpc('backups.make', {})

  server.child.kill('SIGUSR2')
  await expect.poll(() => server.log.some((line) => line.startsWith('clock now'))).toBe(true)

  expect((await api.get('/rtc/room/get', { room_id: before })).ret).toBe(0)
  const after = await api.createRoom()
  const second = await server.rpc('backups.make', {})
  expect(second.name).not.toBe(first.name)
  // The newest backup is the one made last, whatever the clock says.
  expect((await server.rpc('backups.list', {}))[0]?.name).toBe(second.name)
  expect((await new ApiClient(server.ready, credential).authenticate()).ret).toBe(0)
  await server.rpc('lab.join', { room_id: after, user_id: 'ann', user_name: 'Ann' })
  expect((await api.get('/rtc/room/get', { room_id: after })).room_status).toBe(1)
  expect(await server.stop()).toBe(0)

  const again = await startHeadless({ folder: server.folder, site })
  const later = new ApiClient(again.ready, credential)
  later.token = api.token
  expect((await later.get('/rtc/room/get', { room_id: before })).ret).toBe(0)
  expect((await later.get('/rtc/room/get', { room_id: after })).ret).toBe(0)
  await again.stop()
  await removeFolder(server.folder)
})
