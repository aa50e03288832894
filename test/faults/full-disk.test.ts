import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { startHeadless } from '../support/headless.ts'

const credential = { label: 'Disk', access_key: 'disk', secret_key: 'disk-secret' }
const site = { credentials: [credential], nodes: [{ name: 'lab', kind: 'simulated' }] }
const size = 48

test('A full disk refuses new rooms with 700 and new devices with 302, keeps everything, and recovers without help', {
  timeout: 60_000,
}, async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-full-'))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}m`, 'tmpfs', folder])
  if (mounted.status !== 0) context.skip('a tmpfs cannot be mounted here: the test needs root')
  onTestFinished(async () => {
    spawnSync('umount', ['-l', folder])
    await rm(folder, { recursive: true, force: true })
  })
  await writeFile(`${folder}.site.json`, JSON.stringify(site))
  const server = await startHeadless({ folder, flags: ['--site', `${folder}.site.json`] })
  const api = new ApiClient(server.ready, credential)
  await api.authenticate()
  const before = await api.createRoom()
  expect(
    spawnSync('dd', ['if=/dev/zero', `of=${join(folder, 'filler')}`, 'bs=64k'], { stdio: 'ignore' }).status,
  ).not.toBe(0)

  const made: string[] = []
  let refusal = 0
  for (let turn = 0; turn < 200_000 && refusal === 0; turn++) {
    const answer = await api.get('/rtc/room/create', {
      topic: 'x'.repeat(149),
      owner_id: 'o'.repeat(128),
      room_mode: 1,
    })
    if (answer.ret === 0) made.push(String(answer.room_id))
    else refusal = answer.ret
  }
  expect(refusal).toBe(700)
  const device = { roomId: before, userId: 'cam-1', userName: 'Door', userAddress: 'rtsp://192.0.2.1/door' }
  expect((await api.outgoing('createOutgoingUser', device)).ret).toBe(302)
  expect((await api.get('/rtc/room/get', { room_id: before })).ret).toBe(0)
  expect((await api.outgoing('getOutgoingUsers')).data).toEqual({ total: 0, items: [] })
  expect((await fetch(`${server.ready.console}/healthz`)).status).toBe(503)

  await rm(join(folder, 'filler'))
  const after = await api.createRoom({ topic: 'After' })
  expect((await api.outgoing('createOutgoingUser', device)).ret).toBe(0)
  expect((await fetch(`${server.ready.console}/healthz`)).status).toBe(200)
  expect(await server.stop()).toBe(0)

  const again = await startHeadless({ folder, flags: ['--site', `${folder}.site.json`] })
  const later = new ApiClient(again.ready, credential)
  await later.authenticate()
  for (const room of [before, after, ...made]) expect((await later.get('/rtc/room/get', { room_id: room })).ret).toBe(0)
  expect((await later.outgoing('getOutgoingUsers')).data).toMatchObject({ total: 1 })
  await again.stop()
})
