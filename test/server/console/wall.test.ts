import { describe, expect, test as base } from 'vitest'
import { siteWithoutMedia, startHeadless } from '../../support/headless.ts'
import { disposed } from '../../support/fixtures.ts'

const gate = { kind: 'camera', id: 'gate' } as const
const lobby = { kind: 'room', id: 'lobby' } as const

const test = base.extend('server', { scope: 'file' }, async ({}, { onCleanup }) =>
  disposed(onCleanup, await startHeadless({ site: siteWithoutMedia })),
)

describe('The video wall', () => {
  // Views are listed and limited as a whole: each test has the wall to itself.
  test.afterEach(async ({ server }) => {
    for (const { id } of await server.rpc('wall.list', {})) await server.rpc('wall.remove', { id })
  })

  test("stores named views, shows operators each other's changes, and is part of a backup", async ({ server }) => {
    const doors = await server.rpc('wall.save', { name: ' Doors ', items: [gate, lobby] })
    expect(doors).toMatchObject({ name: 'Doors', items: [gate, lobby], revision: 1 })
    const all = await server.rpc('wall.save', { name: 'all of it', items: [lobby] })
    expect((await server.rpc('wall.list', {})).map(({ name }) => name)).toEqual(['all of it', 'Doors'])
    expect(await server.result('wall.save', { name: 'DOORS', items: [gate] })).toMatchObject({
      error: { code: 'conflict', message: 'Another view has this name already.' },
    })

    // Two operators have it open; the second one to save is warned, and can still save.
    const { id, revision } = doors
    expect(await server.rpc('wall.save', { id, name: 'Doors', items: [lobby], revision })).toMatchObject({
      revision: 2,
    })
    const mine = { id, name: 'Entrances', items: [lobby, gate] }
    expect(await server.result('wall.save', { ...mine, revision })).toMatchObject({
      error: { code: 'conflict', message: 'Somebody else changed this view meanwhile.' },
    })
    expect(await server.rpc('wall.save', mine)).toMatchObject({ name: 'Entrances', revision: 3 })

    const { name: backup } = await server.rpc('backups.make', {})
    await server.rpc('wall.remove', { id })
    expect(await server.result('wall.save', { ...mine, revision: 3 })).toMatchObject({ error: { code: 'notFound' } })
    expect(await server.rpc('wall.list', {})).toEqual([all])
    await server.rpc('backups.restore', { name: backup })
    expect((await server.rpc('wall.list', {})).map(({ name }) => name)).toEqual(['all of it', 'Entrances'])

    const { room_id } = await server.rpc('rooms.create', { topic: 'Lobby, ground floor' })
    await server.rpc('wall.save', { id, name: 'Entrances', items: [gate, { kind: 'room', id: room_id }] })

    const { items } = await server.rpc('events.list', { subject: { type: 'wall', id }, limit: 10 })
    const named = `camera gate, Lobby, ground floor (${room_id})`
    expect(items.map(({ params, before, after }) => [params.procedure, before?.items, after?.items])).toEqual([
      ['wall.save', 'room lobby, camera gate', named],
      ['wall.remove', 'room lobby, camera gate', undefined],
      ['wall.save', 'room lobby', 'room lobby, camera gate'],
      ['wall.save', 'camera gate, room lobby', 'room lobby'],
      ['wall.save', undefined, 'camera gate, room lobby'],
    ])
  })

  test('has 1 to 200 cameras and rooms and at most 50 views', async ({ server }) => {
    const tiles = (count: number) => Array.from({ length: count }, (_, index) => ({ ...gate, id: `camera ${index}` }))
    for (const items of [[], tiles(201)]) {
      expect(await server.result('wall.save', { name: 'x', items })).toMatchObject({ error: { code: 'invalid' } })
    }
    for (let number = 0; number < 50; number++) {
      await server.rpc('wall.save', { name: `View ${number}`, items: tiles(25) })
    }
    expect(await server.result('wall.save', { name: 'one more', items: [gate] })).toMatchObject({
      error: { code: 'conflict', message: 'There are 50 views already: remove one first.' },
    })
  })

  test('keeps the arrangement of a view, and brings only existing tiles to the front', async ({ server }) => {
    const name = 'Doors'
    const items = [gate, lobby]
    const { id, arrangement: none } = await server.rpc('wall.save', { name, items })
    expect(none).toBeUndefined()
    const places = [
      { x: 0, y: 0, w: 8, h: 12 },
      { x: 8, y: 0, w: 4, h: 4 },
    ]
    const arranged = await server.rpc('wall.save', {
      id,
      name,
      items,
      arrangement: { layout: 'free', places, rotate_s: 20 },
    })
    expect(arranged.arrangement).toMatchObject({ layout: 'free', places, rotate_s: 20, titles: true, clock: false })
    // A script that knows no arrangements leaves it as it is.
    expect((await server.rpc('wall.save', { id, name, items })).arrangement).toEqual(arranged.arrangement)
    for (const arrangement of [
      { layout: 'free', places: [] },
      { layout: 'free', places: [...places, { x: 7, y: 3, w: 2, h: 2 }] },
      { layout: 'free', places: [{ x: 8, y: 0, w: 5, h: 1 }] },
      { layout: 'even', places: [], rotate_s: 2 },
    ] as const) {
      const input = { id, name, items, arrangement: { ...arrangement, places: [...arrangement.places] } }
      expect(await server.result('wall.save', input)).toMatchObject({ error: { code: 'invalid' } })
    }
    const { room_id } = await server.rpc('rooms.create', { topic: 'Lobby' })
    expect(await server.rpc('wall.bring', { item: { kind: 'room', id: room_id } })).toEqual({})
    expect(await server.result('wall.bring', { item: gate })).toMatchObject({ error: { code: 'notFound' } })
    expect(await server.result('wall.bring', { item: { kind: 'room', id: room_id }, view: 'none' })).toMatchObject({
      error: { code: 'notFound' },
    })
  })
})
