import { describe, expect, test } from 'vitest'
import { arrange } from '../../../renderer/room-page/layout/arrange.ts'
import { byImportance, keepPlaces } from '../../../renderer/room-page/layout/on-stage.ts'
import type { Tile } from '../../../renderer/room-page/layout/tiles.ts'
import { tile } from './tile.ts'

const room = (count: number): Tile[] => Array.from({ length: count }, (_, i) => tile(`p${i}`))
const idsOf = (tiles: readonly Tile[]): string[] => tiles.map(({ id }) => id)

describe('the stage of a room with more users than tiles', () => {
  test("begins with a shared screen, then pinned users, then the user's own tile, then the latest speaker, then the first user", () => {
    const tiles = [tile('s', { source: 'screen' }), ...room(6), tile('me', { own: true })]
    const order = byImportance(tiles, { kept: new Set(['p5']), spoke: ['p3', 'p4', 'gone'] })
    expect(idsOf(order)).toEqual(['s', 'p5', 'me', 'p3', 'p4', 'p0', 'p1', 'p2'])
  })

  test('is in joining order if nobody spoke', () => {
    expect(idsOf(byImportance(room(5), { kept: new Set(), spoke: [] }))).toEqual(['p0', 'p1', 'p2', 'p3', 'p4'])
  })
})

describe('tiles on the stage', () => {
  test('stay in place when a user speaks: the speaker takes the place of the one who left', () => {
    const people = room(20)
    let order: string[] = []
    const speak = (...spoke: string[]): string[] => {
      const shown = byImportance(people, { kept: new Set(), spoke }).slice(0, 4)
      order = keepPlaces(
        order,
        people.filter((one) => shown.includes(one)),
      )
      return order
    }
    expect(speak()).toEqual(['p0', 'p1', 'p2', 'p3'])
    expect(speak('p9')).toEqual(['p0', 'p1', 'p2', 'p9'])
    expect(speak('p1', 'p9')).toEqual(['p0', 'p1', 'p2', 'p9'])
    expect(speak('p12', 'p1', 'p9')).toEqual(['p0', 'p1', 'p12', 'p9'])
    expect(speak('p13', 'p12', 'p1', 'p9')).toEqual(['p13', 'p1', 'p12', 'p9'])
  })

  test("close up when a user leaves without a replacement, with the user's own tile last", () => {
    const me = tile('me', { own: true })
    expect(keepPlaces(['p0', 'p1', 'me'], [tile('p1'), me])).toEqual(['p1', 'me'])
    expect(keepPlaces(['p1', 'me'], [tile('p1'), me, tile('p7'), tile('p8')])).toEqual(['p1', 'p7', 'p8', 'me'])
    expect(keepPlaces(['me'], [tile('p1'), me])).toEqual(['p1', 'me'])
  })

  test('do not exceed the limit, however large the window; the others are counted', () => {
    const ids = idsOf(room(12))
    const { places, more, hidden } = arrange(3_000, 2_000, ids, null, 38)
    expect([...places.keys()]).toEqual(ids)
    expect(more).not.toBeNull()
    expect(hidden).toBe(38)
    const alone = arrange(1_280, 800, ['p0'], 'p0', 3)
    expect([alone.places.size, alone.hidden, alone.more !== null]).toEqual([1, 3, true])
  })
})
