import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { removeFolder, startHeadless } from '../support/headless.ts'

const credential = { label: 'Load', access_key: 'load', secret_key: 'load-secret', p2p: true }
const site = { credentials: [credential], nodes: [{ name: 'lab', kind: 'simulated' }] }
const rounds = Number(process.env.ROOMDESK_KILL_ROUNDS ?? 8)
/** Rounds between complete comparisons, after which a new site starts: on a growing site the test would measure starts. */
const roundsOfASite = 50

/** Outcomes that the clients saw: acknowledged creations and deletions, and rooms without an answer. */
class Told {
  readonly exists = new Set<string>()
  readonly gone = new Set<string>()
  readonly unknown = new Set<string>()
  /** Acknowledged creations and deletions. */
  changes = 0
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
    told.changes++
    if (turn % 3 !== 0) continue
    told.exists.delete(id)
    told.unknown.add(id)
    const deleted = await api.get('/rtc/room/del', { room_id: id }).catch(() => undefined)
    if (deleted === undefined) return
    expect(deleted.ret).toBe(0)
    told.unknown.delete(id)
    told.gone.add(id)
    told.changes++
  }
}

/** Kills a new site this many times, and compares its state with the outcomes that its clients saw. */
async function killed(times: number): Promise<Told> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-kill-'))
  const told = new Told()
  for (let round = 0; round < times; round++) {
    const server = await startHeadless({ folder, site })
    const api = new ApiClient(server.ready, credential)
    expect((await api.authenticate()).ret).toBe(0)
    const workers = Array.from({ length: 8 }, (_, index) => work(api, told, `r${round}w${index}`))
    // On a slow disk there may be no change yet after so short a time.
    const before = told.changes
    await vi.waitUntil(() => told.changes > before + 3, { timeout: 20_000, interval: 1 })
    setTimeout(() => server.child.kill('SIGKILL'), Math.random() * 180)
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
  expect((await server.rpc('overview.get', {})).store.losses).toEqual([])
  expect(told.exists.size).toBeGreaterThan(times)
  expect(await server.stop()).toBe(0)
  await removeFolder(folder)
  return told
}

test(`A controller killed ${rounds} times at work loses no acknowledged change`, {
  timeout: 60_000 + rounds * 10_000,
}, async () => {
  let changes = 0
  for (let done = 0; done < rounds; done += roundsOfASite) {
    changes += (await killed(Math.min(roundsOfASite, rounds - done))).changes
    console.info(`${Math.min(done + roundsOfASite, rounds)} kills, ${changes} acknowledged changes, none lost`)
  }
})
