import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { removeFolder, startHeadless } from '../support/headless.ts'

const credential = { label: 'Load', access_key: 'load', secret_key: 'load-secret', p2p: true }
const site = { credentials: [credential], nodes: [{ name: 'lab', kind: 'simulated' }] }
const rounds = Number(process.env.FAULT_ROUNDS ?? 50)

/** What the clients were told: rooms whose creation was acknowledged, whose deletion was, and those without an answer. */
interface Told {
  exists: Set<string>
  gone: Set<string>
  unknown: Set<string>
}

/** Creates rooms, renames some and deletes every third, until the connection breaks. */
async function work(api: ApiClient, told: Told, name: string): Promise<void> {
  for (let turn = 0; ; turn++) {
    const id = `${name}-${turn}`
    told.unknown.add(id)
    const made = await api
      .get('/rtc/room/create', { topic: `Room ${id}`, owner_id: name, room_mode: 1, room_extend_id: id })
      .catch(() => undefined)
    if (made === undefined) return
    expect(made).toEqual({ ret: 0, room_id: id })
    told.unknown.delete(id)
    told.exists.add(id)
    if (turn % 3 !== 0) continue
    told.exists.delete(id)
    told.unknown.add(id)
    const deleted = await api.get('/rtc/room/del', { room_id: id }).catch(() => undefined)
    if (deleted === undefined) return
    expect(deleted.ret).toBe(0)
    told.unknown.delete(id)
    told.gone.add(id)
  }
}

test(`A controller killed ${rounds} times in the middle of its work forgets nothing it acknowledged`, {
  timeout: 300_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-kill-'))
  const told: Told = { exists: new Set(), gone: new Set(), unknown: new Set() }
  for (let round = 0; round < rounds; round++) {
    const server = await startHeadless({ folder, site })
    const api = new ApiClient(server.ready, credential)
    expect((await api.authenticate()).ret).toBe(0)
    const workers = Array.from({ length: 8 }, (_, index) => work(api, told, `r${round}w${index}`))
    const pause = 20 + Math.random() * 180
    setTimeout(() => server.child.kill('SIGKILL'), pause)
    await Promise.all(workers)
  }
  const server = await startHeadless({ folder, site })
  const api = new ApiClient(server.ready, credential)
  await api.authenticate()
  const lost: string[] = []
  for (const id of told.exists) {
    const room = await api.get('/rtc/room/get', { room_id: id })
    if (room.ret !== 0 || room.topic !== `Room ${id}`) lost.push(id)
  }
  for (const id of told.gone) {
    if ((await api.get('/rtc/room/get', { room_id: id })).ret !== 404) lost.push(`deleted ${id}`)
  }
  expect(lost).toEqual([])
  for (const id of told.unknown) {
    const room = await api.get('/rtc/room/get', { room_id: id })
    if (room.ret === 0)
      expect(room).toMatchObject({
        room_id: id,
        room_extend_id: id,
        topic: `Room ${id}`,
        room_mode: 1,
        attendee_max: 100,
      })
    else expect(room.ret).toBe(404)
  }
  expect(told.exists.size).toBeGreaterThan(rounds)
  expect(await server.stop()).toBe(0)
  await removeFolder(folder)
})
