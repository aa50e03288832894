import { describe, expect, test, vi } from 'vitest'
import { seenStream } from '../../../renderer/console/pages/wall/useTile.ts'
import { StartQueue } from '../../../renderer/console/pages/wall/start-queue.ts'
import { toldHeight } from '../../../renderer/console/pages/wall/useTileView.ts'

const stream = (user_id: string, video_codec = 'VP8', stream_id = user_id) => ({ stream_id, user_id, video_codec })
const speaking = (...users: string[]) => users.map((user_id) => ({ user_id, speaking: true }))

describe('The tile of a room', () => {
  const room = [
    stream('deaf', ''),
    stream('anna', 'VP8', 'anna-screen'),
    stream('anna'),
    stream('ben'),
    stream('door', 'H264'),
  ]

  test('shows the speaker, and stays until another user speaks', () => {
    const first = seenStream(room, [], undefined, 1_000)
    expect(first?.streamId).toBe('anna-screen')
    expect(seenStream(room, speaking('deaf'), first, 9_000)).toBe(first)
    const ben = seenStream(room, speaking('ben'), first, 10_000)
    expect(ben).toEqual({ streamId: 'ben', userId: 'ben', since: 10_000 })
    expect(seenStream(room, [], ben, 60_000)).toBe(ben)
    // The visible one stays while two talk to each other.
    expect(seenStream(room, speaking('anna', 'ben'), ben, 60_000)).toBe(ben)
    // Another user speaks: ignored within three seconds.
    expect(seenStream(room, speaking('anna'), ben, 12_900)).toBe(ben)
    expect(seenStream(room, speaking('anna'), ben, 13_000)?.streamId).toBe('anna')
  })

  test('shows another picture at once when the current one ends, or none if there is none', () => {
    const ben = { streamId: 'ben', userId: 'ben', since: 10_000 }
    const rest = room.filter(({ user_id }) => user_id !== 'ben')
    expect(seenStream(rest, [], ben, 10_001)?.streamId).toBe('anna-screen')
    expect(seenStream([stream('deaf', '')], speaking('deaf'), ben, 10_001)).toBeUndefined()
  })
})

test('The height of a tile is sent in steps, not for small changes, and always when the tile goes out of view', () => {
  expect(toldHeight(0, 204)).toBe(210)
  expect([180, 240].map((height) => toldHeight(210, height))).toEqual([210, 210])
  expect([150, 260].map((height) => toldHeight(210, height))).toEqual([150, 270])
  expect([toldHeight(210, 0), toldHeight(0, 0)]).toEqual([0, 0])
})

describe('Tiles connect', () => {
  test('a few at once and one after the other; removed ones lose their turn', async () => {
    vi.useFakeTimers()
    try {
      const queue = new StartQueue()
      const begun: number[] = []
      const ends: (() => void)[] = []
      const { signal } = new AbortController()
      const given = new AbortController()
      const start = (number: number, by = signal): Promise<void> =>
        queue.run(by, () => {
          begun.push(number)
          return new Promise((resolve) => ends.push(resolve))
        })
      const all = Array.from({ length: 6 }, (_, number) => start(number, number === 4 ? given.signal : signal))
      const refused = expect(all[4]).rejects.toThrow('off the wall')
      await vi.advanceTimersByTimeAsync(0)
      expect(begun).toEqual([0])
      await vi.advanceTimersByTimeAsync(1_000)
      expect(begun).toEqual([0, 1, 2, 3])
      given.abort(new Error('off the wall'))
      await refused
      ends[2]?.()
      await vi.advanceTimersByTimeAsync(100)
      expect(begun).toEqual([0, 1, 2, 3, 5])
      for (const end of ends) end()
      await Promise.all(all.filter((_, number) => number !== 4))
      await expect(start(6, given.signal)).rejects.toThrow('off the wall')
    } finally {
      vi.useRealTimers()
    }
  })
})
