import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Headless, startHeadless } from '../../support/headless.ts'

const gate = { kind: 'camera', id: 'gate' } as const
const lobby = { kind: 'room', id: 'lobby' } as const

describe('The video wall', () => {
  let server: Headless
  beforeAll(async () => {
    server = await startHeadless()
  })
  afterAll(async () => {
    await server.remove()
  })

  test("stores named views, shows operators each other's changes, and is part of a backup", async () => {
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

    const { items } = await server.rpc('events.list', { subject: { type: 'wall', id }, limit: 10 })
    expect(items.map(({ params, before, after }) => [params.procedure, before?.items, after?.items])).toEqual([
      ['wall.remove', 'room lobby, camera gate', undefined],
      ['wall.save', 'room lobby', 'room lobby, camera gate'],
      ['wall.save', 'camera gate, room lobby', 'room lobby'],
      ['wall.save', undefined, 'camera gate, room lobby'],
    ])
  })

  test('has 1 to 25 tiles and at most 50 views', async () => {
    const tiles = (count: number) => Array.from({ length: count }, (_, index) => ({ ...gate, id: `camera ${index}` }))
    for (const items of [[], tiles(26)]) {
      expect(await server.result('wall.save', { name: 'x', items })).toMatchObject({ error: { code: 'invalid' } })
    }
    const there = (await server.rpc('wall.list', {})).length
    for (let number = there; number < 50; number++) {
      await server.rpc('wall.save', { name: `View ${number}`, items: tiles(25) })
    }
    expect(await server.result('wall.save', { name: 'one more', items: [gate] })).toMatchObject({
      error: { code: 'conflict', message: 'There are 50 views already: remove one first.' },
    })
  })
})
