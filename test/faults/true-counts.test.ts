import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { RoomSite, type Visitor } from '../support/sites/room-site.ts'

const credential = { label: 'counts', access_key: 'counts', secret_key: 'a secret of counts' }
const nowhere = { name: 'nowhere', kind: 'janus', ws_url: 'ws://127.0.0.1:9', admin_url: 'http://127.0.0.1:9/admin' }

/** Numbers of a site. Not every way to read them has each. */
interface Counts {
  people: number
  users: number
  cameras: number
  joined: number
  nodes: number
  online: number
  /** Streams that are recorded now. */
  recorded: number
  /** Names of the rooms and cameras that carry the mark of a recording. */
  marks: string[]
}

/** A site with everything that is counted, and each way to read the counts. */
class CountedSite {
  readonly site: RoomSite
  readonly api: ApiClient
  readonly page: Page

  constructor(site: RoomSite, api: ApiClient, page: Page) {
    this.site = site
    this.api = api
    this.page = page
  }

  async rpc(): Promise<Counts> {
    const { controller } = this.site
    const [{ counts }, { items: rooms }, devices, nodes, { streams }, status] = await Promise.all([
      controller.rpc('overview.get', {}),
      controller.rpc('rooms.list', {}),
      controller.rpc('devices.list', {}),
      controller.rpc('nodes.list', {}),
      controller.rpc('recordings.states', {}),
      controller.rpc('recordings.status', {}),
    ])
    const people = rooms.reduce((sum, room) => sum + room.people, 0)
    const states = (wanted: string): number => devices.filter(({ state }) => state === wanted).length
    // The overview and the lists are two screens of one state.
    expect(counts).toMatchObject({
      people,
      devices: devices.length,
      devices_joined: states('joined'),
      nodes: nodes.length,
      nodes_online: nodes.filter(({ state }) => state === 'online').length,
    })
    expect(status.streams).toBe(streams.length)
    const isRecorded = (roomId: string, userId?: string): boolean =>
      streams.some(({ room_id, user_id }) => room_id === roomId && (userId ?? user_id) === user_id)
    return {
      people,
      users: rooms.reduce((sum, { users }) => sum + users, 0),
      cameras: counts.devices,
      joined: counts.devices_joined,
      nodes: counts.nodes,
      online: counts.nodes_online,
      recorded: status.streams,
      marks: [
        ...rooms.filter(({ room_id }) => isRecorded(room_id)).map(({ topic }) => topic),
        ...devices.filter(({ roomId, userId }) => isRecorded(roomId, userId)).map(({ userName }) => userName),
      ].toSorted(),
    }
  }

  async metrics(): Promise<Partial<Counts>> {
    const text = await (await fetch(`${this.site.controller.ready.console}/metrics`)).text()
    const sum = (pattern: string): number =>
      [...text.matchAll(new RegExp(`^roomdesk_${pattern} (\\d+)$`, 'gm'))].reduce((all, [, n]) => all + Number(n), 0)
    return {
      users: sum('users'),
      cameras: sum('devices\\{.*\\}'),
      joined: sum('devices\\{state="joined"\\}'),
      nodes: sum('nodes\\{.*\\}'),
      online: sum('nodes\\{state="online"\\}'),
      recorded: sum('recording_streams'),
    }
  }

  async rest(): Promise<Partial<Counts>> {
    const { items } = await this.site.controller.rpc('rooms.list', {})
    const rooms = await Promise.all(
      items.map(async ({ room_id }) => (await this.api.get('/rtc/room/get_room_info', { room_id })).user_list),
    )
    const { data } = await this.api.outgoing('getOutgoingUsers')
    return {
      users: rooms.reduce<number>((sum, users) => sum + (Array.isArray(users) ? users.length : Number.NaN), 0),
      cameras: Number(Reflect.get(Object(data), 'total')),
    }
  }

  /** Opens a page of the console by its name. */
  async show(name: string): Promise<void> {
    await this.page.evaluate(`location.hash = '#/${name.toLowerCase()}'`)
    await this.page.getByRole('heading', { level: 1, name }).waitFor()
  }

  async screen(): Promise<Partial<Counts>> {
    await this.show('Overview')
    const tile = async (name: string): Promise<number[]> => {
      const text = await this.page.locator('a.tile', { hasText: name }).innerText()
      return (text.match(/\d+/g) ?? []).map(Number)
    }
    const [people = Number.NaN] = await tile('People in rooms')
    const [joined = Number.NaN, cameras = Number.NaN] = await tile('Devices joined')
    const [online = Number.NaN, nodes = Number.NaN] = await tile('Nodes online')
    const marks: string[] = []
    for (const name of ['Rooms', 'Devices'] as const) {
      await this.show(name)
      await this.page.getByRole('row').nth(1).waitFor()
      const rows = this.page.getByRole('row').filter({ has: this.page.getByRole('img', { name: 'Recording' }) })
      for (const row of await rows.all())
        marks.push(...(/\b(?:Board|Yard|Gate|Lobby)\b/.exec(await row.innerText()) ?? []))
    }
    return { people, cameras, joined, nodes, online, marks: marks.toSorted() }
  }

  /** Expects the numbers of every way, once they are so. */
  async expectEverywhere(expected: Counts): Promise<void> {
    await expect.poll(() => this.rpc(), { timeout: 60_000 }).toEqual(expected)
    for (const way of ['metrics', 'rest', 'screen'] as const) {
      const read = async (): Promise<unknown> => ({ ...expected, ...(await this[way]()) })
      await expect.poll(read, { timeout: 30_000 }).toEqual(expected)
    }
  }
}

test('people, users, cameras, nodes and recordings have the same counts on the screen, in both APIs and in the metrics', {
  timeout: 300_000,
}, async () => {
  const nodes = [{ name: 'here', kind: 'embedded' }, nowhere]
  const site = await RoomSite.start({ credentials: [credential], nodes })
  onTestFinished(() => site[Symbol.asyncDispose]())
  const { controller } = site
  const api = new ApiClient(controller.ready, credential)
  await api.authenticate()
  const board = await site.room({ topic: 'Board' })
  const lobby = await site.room({ topic: 'Lobby' })
  await site.camera(board, 'yard', 'Yard')
  // Nothing listens there: the camera is never joined.
  await controller.rpc('devices.create', {
    ...{ roomId: board, userId: 'gate', userName: 'Gate', join: 'background' },
    userAddress: 'rtsp://127.0.0.1:9/gate',
  })
  const key = (await readFile(join(controller.folder, 'console.key'), 'utf8')).trim()
  const { page } = await site.open(`${controller.ready.console}/#key=${key}`, { equipment: 'none' })
  const counted = new CountedSite(site, api, page)
  const quiet: Counts = {
    ...{ people: 0, users: 1, cameras: 2, joined: 1, nodes: 2, online: 1, recorded: 0, marks: [] },
  }
  await counted.expectEverywhere(quiet)

  const comes = async (room: string, name: string): Promise<Visitor> => await site.join(await site.link(room), { name })
  const ann = await comes(board, 'Ann')
  await comes(lobby, 'Bo')
  await counted.expectEverywhere({ ...quiet, people: 2, users: 3 })

  // The camera that is not joined carries no mark, and is no stream.
  await controller.rpc('recordings.start', { room_id: board })
  const recorded = { ...quiet, people: 2, users: 3, recorded: 2, marks: ['Board', 'Yard'] }
  await counted.expectEverywhere(recorded)

  await ann.close()
  await controller.rpc('devices.remove', { userIds: ['yard'] })
  await counted.expectEverywhere({ ...quiet, people: 1, users: 1, cameras: 1, joined: 0 })
})
